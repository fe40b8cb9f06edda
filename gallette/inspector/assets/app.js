/* The frame debugger itself: draws on the left, the picture, and everything about the draw. */
"use strict";
const { render } = htmPreact;

const words = draw => [draw.call, ...draw.group, draw.target, draw.program, ...Object.entries(draw.words).flat(), ...draw.uniforms.map(u => u[0]), ...draw.textures.map(t => t.label), ...draw.variants].join(" ").toLowerCase();
const differing = draw => draw.compared ? Object.values(draw.compared.pixels).reduce((a, b) => a + b, 0) : 0;

/* The draws of the run. Those of a search stay, and the keys step through them. */
function DrawList({ frame, chosen, choose }) {
  const { draws, executed } = frame;
  const [search, setSearch] = useState("");
  const box = useRef();
  const together = useMemo(() => new Map(executed.filter(g => g.length > 1).flatMap(g => g.map(n => [n, g.length - 1]))), [frame]);
  const shown = draws.map((d, i) => i).filter(i => words(draws[i]).includes(search.toLowerCase()));
  const most = Math.max(1, ...draws.map(d => d.microseconds));
  const key = e => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[e.key];
    if (!step || !shown.length) return;
    e.preventDefault();
    const at = shown.indexOf(chosen);
    choose(shown[at < 0 ? 0 : Math.max(0, Math.min(shown.length - 1, at + step))]);
  };
  useEffect(() => {
    const at = box.current.querySelector("[aria-selected=true]");
    if (at) at.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const rows = [];
  let group = "", at = 0;
  for (const i of shown) {
    const d = draws[i], now = d.group.join(" / "), with_ = together.get(d.number), unlike = differing(d);
    if (d.frame !== at && draws[draws.length - 1].frame > 1) rows.push(html`<li class="group" role="presentation">frame ${d.frame}</li>`);
    if (now && now !== group) rows.push(html`<li class="group" role="presentation">${now}</li>`);
    group = now; at = d.frame;
    rows.push(html`<li role="option" id=${"draw" + i} aria-selected=${i === chosen} onClick=${() => { choose(i); box.current.focus(); }}>
      <${Thumb} name=${Object.values(d.attachments)[0]} label="" lazy=${true} />
      <div><div class="row"><b>${d.call}</b><small>${spellTime(d.microseconds)}</small></div>
      <div class="row"><small>call ${d.number}, draw ${i + 1}</small><small>${d.primitives ? `${d.primitives} prim.` : d.size.join(" × ")}${d.overdraw ? `, overdraw ${d.overdraw}` : ""}</small></div>
      ${with_ && html`<small class="merged">merged with ${with_} more</small>`}
      ${unlike > 0 && html`<small class="bad">${unlike} pixels differ</small>`}
      <span class="meter"><i style=${`width:${Math.max(1, 100 * d.microseconds / most)}%`}></i></span></div></li>`);
  }
  return html`<nav class="draws" aria-label="draws"><h2>${draws.length} draws, clears and copies</h2>
    <input type="search" placeholder="call, target, uniform, texture" aria-label="search the draws" value=${search} onInput=${e => setSearch(e.target.value)} />
    ${executed.length > 0 && html`<${Merged} frame=${frame} chosen=${draws[chosen].number} choose=${n => choose(draws.findIndex(d => d.number === n))} />`}
    <ol ref=${box} role="listbox" aria-label="timeline" tabindex="0" onKeyDown=${key} aria-activedescendant=${"draw" + chosen}>${rows}</ol>
    ${!shown.length && html`<p class="faint">No draw has this in it.</p>`}</nav>`;
}

const GROUPS = ["#4a78c8", "#d0463b", "#3a9a58", "#b5792a", "#8c64c8", "#3c9aa6", "#c83c6e", "#7a8a3a"];

/* The draws as they are called, and as the driver executes them when nobody waits for each. */
function Merged({ frame, chosen, choose }) {
  const calls = frame.executed.flat().sort((a, b) => a - b);
  const of = new Map(frame.executed.flatMap((g, i) => g.map(n => [n, i])));
  const color = n => GROUPS[of.get(n) % GROUPS.length];
  const wide = 226 / calls.length, place = new Map(calls.map((n, i) => [n, i * wide + wide / 2]));
  let x = 0;
  const below = frame.executed.map(g => { const at = x; x += g.length * wide; return { g, at, w: g.length * wide }; });
  const bar = (n, at, y, w, title) => html`<rect x=${at} y=${y} width=${Math.max(.5, w - (w > 3 ? 1 : 0))} height="16" fill=${color(n)} class=${n === chosen ? "now" : ""} onClick=${() => choose(n)}><title>${title}</title></rect>`;
  return html`<details class="merging" open=${frame.executed.length < calls.length}><summary>${calls.length} draws called, ${frame.executed.length} executed</summary>
    <svg viewBox="0 0 226 62" role="img" aria-label=${`${calls.length} draws are called and ${frame.executed.length} are executed`}>
      ${below.flatMap(({ g, at, w }) => g.map((n, k) => html`<path d=${`M${place.get(n)} 18 C${place.get(n)} 32 ${at + (k + .5) * w / g.length} 30 ${at + (k + .5) * w / g.length} 44`} stroke=${color(n)} />`))}
      ${calls.map((n, i) => bar(n, i * wide, 2, wide, `call ${n}`))}
      ${below.map(({ g, at, w }) => bar(g[0], at, 44, w, `executed together: call${g.length > 1 ? "s" : ""} ${g.join(", ")}`))}</svg></details>`;
}

function State({ draw }) {
  const [all, setAll] = useState(false);
  const changed = new Set(draw.changed);
  const rows = Object.entries(draw.state).filter(([k]) => all || changed.has(k));
  return html`<p>${Object.entries(draw.words).map(([k, v]) => html`<code>${k}=${v}</code> `)}</p>
    <div class="tools"><label><input type="checkbox" checked=${all} onChange=${e => setAll(e.target.checked)} /> all bound state, not only what changed (at the first draw: from OpenGL's defaults)</label></div>
    ${draw.variants.map(v => html`<p class="warn">new variant: ${v}</p>`)}
    ${rows.length ? html`<table><thead><tr><th scope="col">state</th><th scope="col">value</th></tr></thead><tbody>
      ${rows.map(([k, v]) => html`<tr class=${changed.has(k) ? "changed" : ""}><td>${k}</td><td>${v}</td></tr>`)}</tbody></table>`
      : html`<p class="faint">${Object.keys(draw.state).length ? "Nothing changed before this draw." : "This call depends on no drawing state."}</p>`}`;
}

/* A value of a uniform; a matrix, told column by column, as rows. */
function Value({ text }) {
  const columns = text.split(" | ").map(c => c.split(", "));
  if (columns.length === 1) return html`<div>${text}</div>`;
  return html`<table class="matrix"><tbody>${columns[0].map((_, r) => html`<tr>${columns.map(c => html`<td>${c[r]}</td>`)}</tr>`)}</tbody></table>`;
}

function Uniforms({ draw }) {
  if (!draw.uniforms.length) return html`<p class="faint">No uniforms.</p>`;
  return html`<table><thead><tr><th scope="col">uniform</th><th scope="col">type</th><th scope="col">value</th></tr></thead><tbody>
    ${draw.uniforms.map(([n, t, v]) => html`<tr><td>${n}</td><td class="faint">${t}</td><td>${v.split("; ").map(x => html`<${Value} text=${x} />`)}</td></tr>`)}</tbody></table>`;
}

/* The same draw of another run. */
function Other({ frame, draw }) {
  const c = draw.compared;
  if (!c) return html`<p class="faint">${frame.against} has no draw like this.</p>`;
  return html`<p>Call ${c.number} of ${frame.against}. The overlays "differs ..." show where.</p>
    <div class="thumbs">${Object.entries(c.attachments).map(([n, h]) => html`<${Thumb} name=${h} label=${n}>${n} there <span class=${c.pixels[n] ? "bad" : "good"}>${c.pixels[n]} pixels differ</span><//>`)}</div>
    ${c.unlike.length ? html`<table><thead><tr><th scope="col">what</th><th scope="col">here</th><th scope="col">there</th></tr></thead><tbody>${c.unlike.map(r => html`<tr>${r.map(v => html`<td>${v}</td>`)}</tr>`)}</tbody></table>`
      : html`<p class="good">State, uniforms and counts are the same.</p>`}`;
}

function Textures({ draw }) {
  return html`<h2>attachments</h2><div class="thumbs">${Object.entries(draw.attachments).map(([n, h]) => html`<${Thumb} name=${h} label=${n}>${n}<//>`)}</div>
    <h2>textures</h2>${draw.textures.length ? html`<div class="thumbs">${draw.textures.map(t => html`<${Thumb} name=${t.picture} label=${t.label}>
      ${t.label} <span class="faint">${t.stage} unit ${t.unit}, ${t.format}, ${t.size}</span><//>`)}</div>` : html`<p class="faint">None.</p>`}`;
}

const shade = v => `rgb(${v.slice(0, 3).map(x => Math.round(Math.max(0, Math.min(1, x)) * 255)).join(",")})`;
const Stored = ({ name, value }) => html`${name.startsWith("colour") && html`<span class="swatch" style=${`background:${shade(value)}`}></span>`}${name} ${list(value)}`;

function PixelView({ pixel, step }) {
  if (!pixel) return html`<p class="faint">${live ? "Click a pixel of the picture: everything that touched it, and why nothing else did." : "Histories need the live page: gallette inspect."}</p>`;
  const found = useAnswer("pixel", pixel, pixel ? JSON.stringify(pixel) : null);
  if (!found) return html`<p class="faint">Drawing pixel ${pixel.x}, ${pixel.y} again…</p>`;
  if (found.error) return html`<p class="error">${found.error}</p>`;
  return html`<h2>pixel ${found.x}, ${found.y} of ${found.target || "the framebuffer"}</h2>${!found.events.length && html`<p class="faint">Nothing has touched it.</p>`}${found.events.map(e => html`<section class="event"><h3>${e.place}: ${e.call} <span class="faint">${e.text}</span></h3>
    ${e.fragments.map(f => html`<div><p>primitive ${f.primitive} (${f.front ? "front" : "back"} face${f.weights.length ? `; weights ${f.weights.map(w => w.toFixed(3)).join(", ")}` : ""}): <strong class=${f.verdict.startsWith("written") ? "good" : "bad"}>${f.verdict}</strong></p>
      ${Object.entries(f.outputs).map(([n, v]) => html`<p>the shader wrote <${Stored} name=${n} value=${v} /></p>`)}
      ${f.stores.map(s => html`<p>the shader stored ${s}</p>`)}
      ${f.tests.map(t => html`<p class=${t.passed ? "" : "bad"}>${t.name} ${t.operands}: ${t.passed ? "passes" : "fails"}</p>`)}
      ${f.blend && html`<p class="faint">${f.blend}</p>`}
      ${Object.keys(f.outputs).length > 0 && html`<button onClick=${() => step({ x: found.x, y: found.y, call: e.number })}>step through its shader</button>`}</div>`)}
    ${e.missing.map(f => html`<p class="faint">no fragment of primitive ${f.primitive}: ${f.verdict}</p>`)}
    ${Object.entries(e.after).filter(([n, v]) => (e.before[n] || {}).raw !== v.raw).map(([n, v]) => html`<p><${Stored} name=${n} value=${(e.before[n] || { value: [] }).value} /> → <${Stored} name="" value=${v.value} /></p>`)}
  </section>`)}`;
}

function Debugger({ which }) {
  const found = useAnswer("debug", which, which ? JSON.stringify(which) : null);
  const [at, setAt] = useState(0);
  const box = useRef();
  useEffect(() => { setAt(0); if (box.current) box.current.focus(); }, [found]);  // the keys step at once
  if (!which) return html`<p class="faint">Choose a fragment in a pixel's history, or a vertex of the mesh.</p>`;
  if (!found) return html`<p class="faint">Running the shader in the reference interpreter…</p>`;
  if (found.error) return html`<p class="error">${found.error}</p>`;
  const last = found.steps.length - 1, here = Math.min(at, last);
  const go = to => setAt(Math.max(0, Math.min(last, to)));
  const nextLine = d => { for (let i = here + d; i >= 0 && i <= last; i += d) if (found.at[i] !== found.at[here]) return i; return d > 0 ? last : 0; };
  const results = {};
  for (let i = 0; i <= here; i++) if (found.numbers[i] && found.steps[i].active) results[found.steps[i].line] = list(found.numbers[i]);
  const known = {}, pending = [], visited = new Set(found.steps.map(s => found.code[s.line].source));
  for (let i = 0; i <= here; i++) {
    const s = found.steps[i], code = found.code[s.line];
    if (found.numbers[i] && s.active) for (const [name, comps, line] of code.names) comps.forEach((c, k) => c >= 0 && pending.push([name, c, found.numbers[i][k], line]));
    for (let k = 0; k < pending.length; k++) {
      const [name, c, v, line] = pending[k];
      if (!line || code.source === line || (!visited.has(line) && code.source > line)) { (known[name] = known[name] || [])[c] = v; pending.splice(k--, 1); }
    }
  }
  const names = [...new Set([...found.variables, ...Object.keys(known)])];
  const assigned = new Set(found.code.flatMap(c => c.names.map(n => n[0])));
  const key = e => {
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, ArrowDown: nextLine(1), ArrowUp: nextLine(-1), Home: 0, End: last }[e.key];
    if (to === undefined) return;
    e.preventDefault(); go(to);
  };
  return html`<div class="stepping" tabindex="-1" ref=${box} onKeyDown=${key} onClick=${e => e.target.closest("button, a, .code") || box.current.focus()}><h2>${found.title} ${found.note && html`<span class="bad">${found.note}</span>`}</h2>
    <div class="tools" role="group" aria-label="stepping">
      <button onClick=${() => go(0)}>start</button><button onClick=${() => go(here - 1)} aria-label="step back">‹</button>
      <button onClick=${() => go(here + 1)} aria-label="step forward">›</button><button onClick=${() => go(nextLine(1))}>next line</button>
      <button onClick=${() => go(last)}>end</button><button disabled=${found.nan === null} onClick=${() => go(found.nan)}>first NaN</button>
      <span class="faint">step ${here + 1} of ${last + 1}; arrow keys</span></div>
    <${Code} label="GLSL source" lines=${found.source} numbers=${true} now=${found.at[here] - 1}
      onClick=${i => { const to = found.steps.findIndex((s, k) => k > here && found.code[s.line].source === i + 1); if (to >= 0) go(to); }} />
    <${Code} label="NIR with values" lines=${found.code.map(c => c.text)} now=${found.steps[here].line} results=${results} />
    ${found.all[here] && found.lanes.length > 1 && html`<table><thead><tr>${found.lanes.map(l => html`<th scope="col">${l}</th>`)}</tr></thead><tbody><tr>${found.all[here].map(v => html`<td>${list(v)}</td>`)}</tr></tbody></table>`}
    <table><thead><tr><th scope="col">variable</th><th scope="col">value</th></tr></thead><tbody>
      ${names.map(n => html`<tr><td>${n}</td><td class=${known[n] ? "" : "faint"}>${known[n] ? list(Array.from(known[n])) : assigned.has(n) ? "not assigned yet" : "optimised out"}</td></tr>`)}</tbody></table>
    <p>interpreter: ${Object.entries(found.outputs).map(([n, v]) => `${n} ${list(v)}`).join("; ")}</p>
    <p class="faint">driver: ${Object.entries(found.driver_outputs).map(([n, v]) => `${n} ${list(v)}`).join("; ") || "no outputs to compare"}</p></div>`;
}

function Shaders({ draw }) {
  const found = useAnswer("program", { key: draw.program }, draw.program || null);
  const [stage, setStage] = useState("fragment");
  if (!draw.program) return html`<p class="faint">No program of the application ran.</p>`;
  if (!found) return html`<p class="faint">Compiling with every pass recorded…</p>`;
  if (found.error || !found.stages.length) return html`<p class="error">${found.error || found.log}</p>`;
  const way = found.stages.find(s => s.stage === stage) || found.stages[0];
  return html`<div class="tools"><span role="group" aria-label="stage">${found.stages.map(s => html`<button aria-pressed=${s === way} onClick=${() => setStage(s.stage)}>${s.stage}</button>`)}</span></div>
    <${WayView} way=${way} source=${true} />`;
}

const SWITCHES = { "depth test": "depth, stencil, alpha: depth enabled", "face culling": "rasterizer: cull face", blending: "blend 0: blend enable", "scissor test": "rasterizer: scissor", "stencil test": "" };

function Edit({ draw, program, show }) {
  const sources = program || {};
  const [stage, setStage] = useState("fragment");
  const chosen = sources[stage] === undefined ? Object.keys(sources)[0] : stage;
  const [text, setText] = useState(null);
  const [switches, setSwitches] = useState({});
  const [log, setLog] = useState("");
  const reset = () => { setText(null); setSwitches({}); setLog(""); };
  useEffect(() => {
    if (text === null && !Object.keys(switches).length) { show(null); return; }
    let wanted = true;  // a late answer must not replace that to a later text
    const wait = setTimeout(async () => {
      const answer = await ask("edit", { n: draw.number, key: draw.program, stage: text === null ? "" : chosen, text: text || "", switches }, true);
      if (!wanted) return;
      setLog(answer.error || answer.log.join("\n"));
      if (!answer.error) show(answer.attachments);
    }, 300);
    return () => { wanted = false; clearTimeout(wait); };
  }, [text, switches]);
  if (!live) return html`<p class="faint">Editing needs the live page: gallette inspect.</p>`;
  const on = name => switches[name] !== undefined ? switches[name] : !["false", "NONE", undefined].includes(draw.state[SWITCHES[name]]);
  return html`<div class="tools" role="group" aria-label="state">${Object.keys(SWITCHES).map(n => html`<label><input type="checkbox" checked=${on(n)} onChange=${e => setSwitches({ ...switches, [n]: e.target.checked })} /> ${n}</label>`)}
      <button onClick=${reset}>as it was</button></div>
    ${chosen && html`<div class="tools" role="group" aria-label="stage">${Object.keys(sources).map(s => html`<button aria-pressed=${s === chosen} onClick=${() => { setStage(s); reset(); }}>${s}</button>`)}</div>
    <label>GLSL of the ${chosen} shader<textarea class="code" spellcheck="false" value=${text === null ? sources[chosen] : text} onInput=${e => setText(e.target.value)}></textarea></label>`}
    ${log && html`<pre class="error" role="status">${log}</pre>`}`;
}


function App() {
  const [frame, setFrame] = useState(null);
  const [at, setAt] = useState(0);
  const [tab, setTab] = useState("State");
  const [pixel, setPixel] = useState(null);
  const [which, setWhich] = useState(null);
  const [edited, setEdited] = useState(null);
  useEffect(() => { ask("frame").then(f => { setFrame(f); setAt(Math.max(0, f.draws.length - 1)); document.title = `${f.title} - gallette`; }); }, []);
  const draw = frame && frame.draws[at];
  const mesh = useAnswer("mesh", { n: draw ? draw.number : 0 }, draw && draw.has_mesh ? draw.number : null);
  if (!frame) return html`<p class="wait">Reading the run…</p>`;
  const TABS = ["State", "Uniforms", "Textures", "Mesh", "Shaders", "Pixel", "Debug", "Edit", ...(frame.against ? ["Other"] : [])];
  const step = w => { setWhich(w); setTab("Debug"); };
  const keys = e => {
    const now = TABS.indexOf(tab), to = { ArrowRight: now + 1, ArrowLeft: now - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    const next = TABS[(to + TABS.length) % TABS.length];
    setTab(next); document.getElementById("tab" + next).focus();
  };
  const body = {
    State: () => html`<${State} draw=${draw} />`,
    Uniforms: () => html`<${Uniforms} draw=${draw} />`,
    Textures: () => html`<${Textures} draw=${draw} />`,
    Mesh: () => mesh && mesh.after ? html`<${Mesh} mesh=${mesh} size=${draw.size} onVertex=${v => step({ n: draw.number, vertex: v })} />` : html`<p class="faint">${draw.has_mesh ? "…" : "This call has no mesh."}</p>`,
    Shaders: () => html`<${Shaders} draw=${draw} />`,
    Pixel: () => html`<${PixelView} key=${JSON.stringify(pixel)} pixel=${pixel} step=${step} />`,
    Debug: () => html`<${Debugger} which=${which} />`,
    Edit: () => html`<${Edit} key=${draw.number} draw=${draw} program=${frame.programs[draw.program]} show=${setEdited} />`,
    Other: () => html`<${Other} frame=${frame} draw=${draw} />`,
  }[tab];
  const shown = edited && Object.keys(edited).length ? edited : draw.attachments;
  return html`<header><span class="brand">gallette</span><h1>${frame.title}</h1><span class="faint">${frame.driver}, ${frame.calls} calls${frame.frames > 1 ? `, ${frame.frames} frames` : ""}${frame.against ? `, against ${frame.against}` : ""}</span></header>
    <main><${DrawList} frame=${frame} chosen=${at} choose=${i => { setAt(i); setEdited(null); }} />
      <section class="stage" aria-label="picture"><${Picture} draw=${draw} attachments=${shown} edited=${shown === edited} mesh=${mesh} mark=${pixel}
        onPick=${live && ((x, y, attachment) => { setPixel({ x, y, n: draw.number, attachment }); setTab("Pixel"); })} /></section>
      <section class="pane" aria-label="details"><div role="tablist" aria-label="details" onKeyDown=${keys}>${TABS.map(t => html`<button role="tab" id=${"tab" + t} aria-selected=${t === tab} aria-controls="panel" tabindex=${t === tab ? 0 : -1} onClick=${() => setTab(t)}>${t}</button>`)}</div>
        <div role="tabpanel" id="panel" aria-labelledby=${"tab" + tab} tabindex="0">${frame.notes.map(n => html`<p class="error">${n}</p>`)}${body()}</div></section></main>`;
}

const root = document.getElementById("app");
root.textContent = "";
render(document.documentElement.dataset.view === "explore" ? html`<${Explorer} />` : html`<${App} />`, root);
