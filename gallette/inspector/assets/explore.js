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
const PANES = ["passes", "data", "python"];

/* A drawing that the server made; a line of it under the pointer is marked everywhere. */
function Flow({ svg, line, setLine }) {
  const box = useRef();
  useEffect(() => {
    for (const text of box.current.querySelectorAll("[data-line]")) text.classList.toggle("lit", !!line && Number(text.dataset.line) === line);
  }, [svg, line]);
  return html`<div class="flow" ref=${box} tabindex="0" role="group" aria-label="graph" onMouseOver=${e => setLine(Number((e.target.closest("[data-line]") || { dataset: {} }).dataset.line || 0))}
    dangerouslySetInnerHTML=${{ __html: svg }}></div>`;
}

const SIGNS = { add: "+ ", del: "- ", same: "  ", hunk: "" };

/* One form of the stage: its passes, its code, a graph, or what differs from what is pinned. */
function Pane({ form, forms, stage, answer, line, setLine, choose, remove }) {
  const way = answer.stages.find(s => s.stage === stage);
  const text = (answer.forms[form] || {})[stage];
  const rows = answer.against && answer.against.forms[form] && answer.against.forms[form][stage];
  const variant = way && way.variants[0];
  const lines = (text || "").split("\n");
  const body = () => {
    if (!way) return html`<p class="faint">The program has no such shader.</p>`;
    if (form === "passes") return html`<${WayView} way=${way} outer=${line} setOuter=${setLine} forms=${["nir"]} />`;
    if (text === undefined) return html`<p class="faint" role="status">computing…</p>`;
    if (rows) return rows.length
      ? html`<div class="code" tabindex="0" role="group" aria-label=${`${forms[form]}, differences`}><ol>${rows.map(([kind, t]) => html`<li class=${kind}>${SIGNS[kind]}${t}</li>`)}</ol></div>`
      : html`<p class="good">The same as pinned.</p>`;
    if (text.startsWith("<svg")) return html`<${Flow} svg=${text} line=${line} setLine=${setLine} />`;
    return html`<${Code} label=${forms[form]} lines=${lines} lit=${i => line && lineOf(lines[i]) === line} onHover=${i => setLine(lineOf(lines[i]))} />`;
  };
  return html`<div class="pane" role="group" aria-label=${`pane: ${forms[form]}`}><div class="tools"><select aria-label="what the pane shows" value=${form} onChange=${e => choose(e.target.value)}>${Object.entries(forms).map(([k, t]) => html`<option value=${k}>${t}</option>`)}</select>
      ${variant && (form === "nir" || form === "python") && html`<span class="faint">${variant.key} (${variant.reason})</span>`}
      <button class="close" aria-label=${`close ${forms[form]}`} onClick=${remove}>×</button></div>${body()}</div>`;
}

function Explorer() {
  const [start, setStart] = useState(null);
  const [texts, setTexts] = useState(null);
  const [stage, setStage] = useState("fragment");
  const [choice, setChoice] = useState({ driver: "", used_once: "not_position", fuse: false, switches: {}, textures: {}, time: 0.5, mouse: [0, 0] });
  const [panes, setPanes] = useState(PANES);
  const [pinned, setPinned] = useState(null);
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
    if (kept) { if (kept.panes) setPanes(kept.panes); setPinned(kept.pinned || null); if (kept.stage) setStage(kept.stage); }
    setTexts(kept ? kept.texts : f.sources);
    setChoice({ ...choice, driver: f.drivers[0], ...(kept ? kept.choice : {}) });
    document.title = "explorer - gallette";
  }); }, []);
  useEffect(() => {
    if (!texts || !choice.driver) return;
    setComputing(true);
    const wait = setTimeout(async () => {
      const mine = ++asked.current;
      const question = { ...texts, ...choice, forms: [...new Set(panes)].filter(p => p !== "passes") };
      if (pinned) question.against = { ...pinned.texts, ...pinned.choice };
      const found = await ask("explore", question, true);
      if (mine !== asked.current) return;
      setComputing(false);
      setAnswer(found);
      if (found.picture) setGood(found);
      if (playing) setTimeout(() => { if (mine === asked.current) setChoice(c => ({ ...c, time: (c.time + 0.05) % 6.3 })); }, PLAYING);
    }, playing ? 0 : 120);
    return () => clearTimeout(wait);
  }, [texts, choice, playing, panes.join(), pinned]);
  if (!texts) return html`<p class="wait">Starting…</p>`;
  const put = part => setChoice({ ...choice, ...part });
  const stale = answer && (answer.error || !answer.picture);
  const errors = ((answer && answer.errors) || []).filter(e => e[0] === stage).map(e => e.slice(1));
  const forms = { passes: "NIR after each pass", ...start.forms };
  const share = async () => {
    history.replaceState(null, "", "#" + await packedLink({ texts, choice, panes, pinned, stage }));
    try { await navigator.clipboard.writeText(location.href); setTold("The link is in the clipboard."); } catch { setTold("The link is in the address bar."); }
  };
  const show = (found, at) => { setTexts(found); setStage(at); setLine(0); setOpened(opened + 1); };
  const open = name => { const found = start.examples[name]; if (found) show(found, "fragment"); };
  const add = name => {
    const from = Object.values(start.examples).find(e => e[name]);
    // What its neighbours take and give would not fit a program that is still an example itself.
    const untouched = Object.values(start.examples).some(e => JSON.stringify(e) === JSON.stringify(texts));
    const found = untouched ? from : { ...texts, [name]: from[name] };
    if (name === "tess_ctrl" && !found.tess_eval) found.tess_eval = from.tess_eval;
    show(found, name);
  };
  const drop = name => { const { [name]: gone, ...left } = texts; show(left, "fragment"); };
  const point = e => {
    const box = e.target.getBoundingClientRect();
    if (e.target.tagName === "CANVAS") put({ mouse: [(e.clientX - box.left) / box.width, 1 - (e.clientY - box.top) / box.height] });
  };
  const against = good && good.against;
  return html`<header><span class="brand">gallette</span><h1>explorer</h1><span class="faint" role="status">${computing && !playing ? "computing…" : good ? `${good.milliseconds} ms` : ""}</span>
      <div class="tools">
        <label>example <select value="" onChange=${e => open(e.target.value)}><option value="">choose</option>${Object.keys(start.examples).map(n => html`<option value=${n}>${n}</option>`)}</select></label>
        <label>driver <select value=${choice.driver} onChange=${e => put({ driver: e.target.value })}>${start.drivers.map(d => html`<option value=${d}>${d}</option>`)}</select></label>
        <label>inexact rules that count uses <select value=${choice.used_once} onChange=${e => put({ used_once: e.target.value })}>${start.used_once.map(d => html`<option value=${d}>${d}</option>`)}</select></label>
        <label><input type="checkbox" checked=${choice.fuse} onChange=${e => put({ fuse: e.target.checked })} /> fused multiply-add</label>
        ${start.switches.map(n => html`<label><input type="checkbox" checked=${!!choice.switches[n]} onChange=${e => put({ switches: { ...choice.switches, [n]: e.target.checked } })} /> ${n}</label>`)}
        <button aria-pressed=${!!pinned} title="keep these shaders and settings, and show what differs from them" onClick=${() => setPinned(pinned ? null : { texts, choice })}>${pinned ? "unpin" : "pin and compare"}</button>
        <button onClick=${share}>link</button> <span role="status">${told}</span>
      </div></header>
    <main class="explore">
      <section class="source" aria-label="GLSL">
        <div class="tools"><span role="group" aria-label="stage">${start.stages.filter(s => texts[s] !== undefined).map(s => html`<button aria-pressed=${s === stage} onClick=${() => { setStage(s); setLine(0); }}>${s}</button>`)}</span>
          <select aria-label="add a stage" value="" onChange=${e => e.target.value && add(e.target.value)}><option value="">add a stage</option>${start.stages.filter(s => texts[s] === undefined).map(s => html`<option value=${s}>${s}</option>`)}</select>
          ${stage !== "vertex" && stage !== "fragment" && html`<button onClick=${() => drop(stage)}>remove it</button>`}</div>
        <${Editor} key=${`${stage} ${opened}`} text=${texts[stage] || ""} label=${`GLSL of the ${stage} shader`} errors=${errors} lit=${line} setLine=${setLine}
          changed=${t => setTexts({ ...texts, [stage]: t })} />
        <div role="status">${answer && (answer.error || answer.log) && html`<pre class="error">${answer.error || answer.log}</pre>`}</div>
        <div class=${stale ? "stale" : ""}>${good && html`<div class="shown"><div onPointerMove=${e => e.buttons && point(e)} onPointerDown=${point}><${Thumb} name=${good.picture} label="what the shaders draw">time ${spell(choice.time)}, mouse ${choice.mouse.map(v => v.toFixed(2)).join(", ")} (drag)<//></div>
          ${against && html`<${Thumb} name=${against.picture} label="what the pinned shaders draw">pinned: ${against.differing === null ? against.log || "no picture" : `${against.differing} pixels differ`}<//>`}</div>`}
        <div class="tools"><button aria-pressed=${playing} onClick=${() => setPlaying(!playing)}>${playing ? "pause" : "play"}</button>
          <label>time <input type="range" min="0" max="6.3" step="0.05" value=${choice.time} onInput=${e => put({ time: Number(e.target.value) })} /></label>
          ${good && good.samplers.map((n, i) => html`<label>${n} <select value=${choice.textures[n] || start.textures[i % start.textures.length]} onChange=${e => put({ textures: { ...choice.textures, [n]: e.target.value } })}>${start.textures.map(t => html`<option value=${t}>${t}</option>`)}</select></label>`)}</div></div>
      </section>
      <div class=${`panes ${stale ? "stale" : ""} ${computing && !playing ? "computing" : ""}`}>${stale && html`<p class="warn">From the last text that compiled.</p>`}
        ${good ? panes.map((p, i) => html`<${Pane} key=${i} form=${p} forms=${forms} stage=${stage} answer=${good} line=${line} setLine=${setLine}
          choose=${f => setPanes(panes.map((x, k) => k === i ? f : x))} remove=${() => setPanes(panes.filter((x, k) => k !== i))} />`) : html`<p class="faint">No NIR yet.</p>`}
        <button onClick=${() => setPanes([...panes, Object.keys(forms).find(f => !panes.includes(f)) || "nir"])}>add a pane</button></div>
    </main>`;
}
