/* The explorer: a pair of shaders, live. The address bears what is shown, so that it can be shared. */
"use strict";

/* What is shown, as text for an address and back: JSON, compressed. */
async function squeezed(value, stream, bytes) {
  const through = new Blob([bytes]).stream().pipeThrough(new stream("deflate-raw"));
  return new Uint8Array(await new Response(through).arrayBuffer());
}
async function packedLink(value) {
  const bytes = await squeezed(value, CompressionStream, new TextEncoder().encode(JSON.stringify(value)));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
async function unpackedLink(text) {
  const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = await squeezed(text, DecompressionStream, Uint8Array.from(raw, c => c.charCodeAt(0)));
  return JSON.parse(new TextDecoder().decode(bytes));
}

/* CodeMirror (editor/editor.js): colours, errors at their place, the line that another pane points at.
   `text` is where it begins; afterwards the editor has the text, and says so. */
function Editor({ text, label, errors, lit, changed, setLine }) {
  const box = useRef(), editor = useRef(), told = useRef();
  told.current = { changed, setLine };
  useEffect(() => {
    let wanted = true;
    const make = () => {
      if (!wanted || editor.current) return;
      editor.current = glslEditor.make(box.current, text, label, {
        changed: t => told.current.changed(t), caret: n => told.current.setLine(n), hovered: n => n && told.current.setLine(n),
      });
    };
    if (window.glslEditor) make();
    else {
      const script = document.createElement("script");
      script.src = "codemirror.js";
      script.onload = make;
      document.head.append(script);
    }
    return () => { wanted = false; };
  }, []);
  useEffect(() => { if (editor.current) editor.current.setErrors(errors); }, [JSON.stringify(errors), editor.current]);
  useEffect(() => { if (editor.current) editor.current.mark(lit); }, [lit]);
  return html`<div class="editor" ref=${box}></div>`;
}

const PLAYING = 50; // milliseconds between frames, if they come that fast

function Explorer() {
  const [start, setStart] = useState(null);
  const [texts, setTexts] = useState(null);
  const [stage, setStage] = useState("fragment");
  const [choice, setChoice] = useState({ driver: "", used_once: "not_position", fuse: false, switches: {}, time: 0.5, mouse: [0, 0] });
  const [answer, setAnswer] = useState(null);
  const [computing, setComputing] = useState(false);
  const [playing, setPlaying] = useState(false);
  const [line, setLine] = useState(0);
  const [good, setGood] = useState(null);
  const [told, setTold] = useState("");
  const [opened, setOpened] = useState(0); // texts that come from elsewhere get an editor of their own
  const asked = useRef(0);
  useEffect(() => { ask("frame").then(async f => {
    setStart(f);
    let kept = null;
    try { if (location.hash.length > 1) kept = await unpackedLink(location.hash.slice(1)); } catch { setTold("The link cannot be read."); }
    setTexts(kept ? kept.texts : f.sources);
    setChoice({ ...choice, driver: f.drivers[0], ...(kept ? kept.choice : {}) });
    document.title = "explorer - gallette";
  }); }, []);
  useEffect(() => {
    if (!texts || !choice.driver) return;
    const wait = setTimeout(async () => {
      const mine = ++asked.current;
      setComputing(true);
      const found = await ask("explore", { ...texts, ...choice }, true);
      if (mine !== asked.current) return;
      setComputing(false);
      setAnswer(found);
      if (found.picture) setGood(found);
      if (playing) setTimeout(() => { if (mine === asked.current) setChoice(c => ({ ...c, time: (c.time + 0.05) % 6.3 })); }, PLAYING);
    }, playing ? 0 : 120);
    return () => clearTimeout(wait);
  }, [texts, choice, playing]);
  if (!texts) return html`<p class="wait">Starting…</p>`;
  const way = good && good.stages.find(s => s.stage === stage);
  const put = part => setChoice({ ...choice, ...part });
  const stale = answer && (answer.error || !answer.picture);
  const errors = ((answer && answer.errors) || []).filter(e => e[0] === stage).map(e => e.slice(1));
  const share = async () => {
    history.replaceState(null, "", "#" + await packedLink({ texts, choice }));
    try { await navigator.clipboard.writeText(location.href); setTold("The link is in the clipboard."); } catch { setTold("The link is in the address bar."); }
  };
  const open = name => { const found = start.examples[name]; if (found) { setTexts(found); setStage("fragment"); setOpened(opened + 1); } };
  const point = e => {
    const box = e.target.getBoundingClientRect();
    if (e.target.tagName === "CANVAS") put({ mouse: [(e.clientX - box.left) / box.width, 1 - (e.clientY - box.top) / box.height] });
  };
  return html`<header><span class="brand">gallette</span><h1>explorer</h1>
      <div class="tools">
        <label>example <select value="" onChange=${e => open(e.target.value)}><option value="">choose</option>${Object.keys(start.examples).map(n => html`<option value=${n}>${n}</option>`)}</select></label>
        <label>driver <select value=${choice.driver} onChange=${e => put({ driver: e.target.value })}>${start.drivers.map(d => html`<option value=${d}>${d}</option>`)}</select></label>
        <label>inexact rules that count uses <select value=${choice.used_once} onChange=${e => put({ used_once: e.target.value })}>${start.used_once.map(d => html`<option value=${d}>${d}</option>`)}</select></label>
        <label><input type="checkbox" checked=${choice.fuse} onChange=${e => put({ fuse: e.target.checked })} /> fused multiply-add</label>
        ${start.switches.map(n => html`<label><input type="checkbox" checked=${!!choice.switches[n]} onChange=${e => put({ switches: { ...choice.switches, [n]: e.target.checked } })} /> ${n}</label>`)}
        <button onClick=${share}>link</button> <span role="status">${told}</span>
      </div>
      <span class="faint">${computing && !playing ? "computing…" : good ? `${good.milliseconds} ms` : ""}</span></header>
    <main class="explore">
      <section class="pane" aria-label="GLSL"><div class="stage">
        <div class="tools"><span role="group" aria-label="stage">${Object.keys(texts).map(s => html`<button aria-pressed=${s === stage} onClick=${() => { setStage(s); setLine(0); }}>${s}</button>`)}</span></div>
        <${Editor} key=${`${stage} ${opened}`} text=${texts[stage]} label=${`GLSL of the ${stage} shader`} errors=${errors} lit=${line} setLine=${setLine}
          changed=${t => setTexts({ ...texts, [stage]: t })} />
        <p class="faint">A line under the pointer, and what was made of it, is marked everywhere.</p>
        <div role="status">${answer && (answer.error || answer.log) && html`<pre class="error">${answer.error || answer.log}</pre>`}</div></div></section>
      <section class=${stale ? "pane stale" : "pane"} aria-label="passes"><div class="stage">${stale && html`<p class="warn">From the last text that compiled.</p>`}${way ? html`<${WayView} way=${way} outer=${line} setOuter=${setLine} forms=${["nir", "final"]} />` : html`<p class="faint">No NIR yet.</p>`}</div></section>
      <section class=${stale ? "pane stale" : "pane"} aria-label="picture and code"><div class="stage">
        ${good && html`<div class="shown" onPointerMove=${e => e.buttons && point(e)} onPointerDown=${point}><${Thumb} name=${good.picture} label="what the shaders draw">time ${spell(choice.time)}, mouse ${choice.mouse.map(v => v.toFixed(2)).join(", ")} (drag)<//></div>`}
        <div class="tools"><button aria-pressed=${playing} onClick=${() => setPlaying(!playing)}>${playing ? "pause" : "play"}</button>
        <label>time <input type="range" min="0" max="6.3" step="0.05" value=${choice.time} onInput=${e => put({ time: Number(e.target.value) })} /></label></div>
        ${way && way.variants[0] && html`<p class="faint">${way.variants[0].key} (${way.variants[0].reason})</p><${Code} label="generated code" lines=${way.variants[0].code.split("\n")} lit=${i => line && lineOf(way.variants[0].code.split("\n")[i]) === line} onHover=${i => setLine(lineOf(way.variants[0].code.split("\n")[i]))} />`}</div></section>
    </main>`;
}
