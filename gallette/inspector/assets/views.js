/* Pictures, meshes and code: what the page draws, and how it gets its data. */
"use strict";
const { html, useState, useEffect, useRef, useMemo } = htmPreact;
const kept = window.GALLETTE;
const live = !kept;

/* -- data: from the server, or out of this very page -- */

async function ask(question, parameters = {}, post = false) {
  if (!live) {
    if (question === "frame") return kept.frame;
    if (question === "mesh") return kept.meshes[parameters.n] || {};
    if (question === "program") return kept.programs[parameters.key];
    return { error: "this page is a copy; `gallette inspect` answers such questions" };
  }
  const url = "api/" + question;
  const answer = post
    ? await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(parameters) })
    : await fetch(url + "?" + new URLSearchParams(parameters));
  if (!answer.ok) return { error: await answer.text() };
  return answer.json();
}

const pictures = new Map();

function picture(name) {
  if (!pictures.has(name)) {
    const coming = live ? fetched(name) : unpacked(kept.pictures[name]);
    coming.catch(() => pictures.delete(name));  // who asks again may be luckier
    pictures.set(name, coming);
  }
  return pictures.get(name);
}

async function fetched(name) {
  const answer = await fetch("api/picture/" + name);
  if (!answer.ok) throw new Error(`picture ${name}: ${answer.status}`);
  const buffer = await answer.arrayBuffer();
  const [width, height, channels, floats] = new Uint32Array(buffer, 0, 4);
  const data = floats ? new Float32Array(buffer, 16) : new Uint8Array(buffer, 16);
  return { width, height, channels, floats: !!floats, data };
}

async function unpacked(entry) {
  const image = new Image();
  image.src = entry.uri;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width; canvas.height = image.height;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.drawImage(image, 0, 0);
  const rgba = pen.getImageData(0, 0, image.width, image.height).data;
  const n = entry.channels, count = image.width * image.height;
  const data = entry.floats ? new Float32Array(count * n) : new Uint8Array(count * n);
  const scale = entry.floats ? (entry.high - entry.low) / 255 : 1, low = entry.floats ? entry.low : 0;
  for (let i = 0; i < count; i++) for (let c = 0; c < n; c++) data[i * n + c] = rgba[i * 4 + c] * scale + low;
  return { width: image.width, height: image.height, channels: n, floats: entry.floats, data, full: entry.size };
}

function usePicture(name) {
  const [found, set] = useState(null);
  useEffect(() => {
    let wanted = true, again = 0;
    const load = () => picture(name).then(p => wanted && set(p), () => { if (wanted) again = setTimeout(load, 1000); });
    if (!name) set(null);
    else load();
    return () => { wanted = false; clearTimeout(again); };
  }, [name]);
  return found;
}

function useAnswer(question, parameters, key) {
  const [found, set] = useState(null);
  useEffect(() => {
    let wanted = true;
    set(null);
    if (key !== null) ask(question, parameters).then(a => wanted && set(a));
    return () => { wanted = false; };
  }, [key]);
  return found;
}

/* -- numbers -- */

function spell(v) {
  if (v === null || v === undefined) return "?";
  if (typeof v === "number") return Number.isInteger(v) ? String(v) : String(Number(v.toPrecision(6)));
  return String(v);
}
const spellTime = us => us < 1000 ? `${Math.round(us)} µs` : us < 1e6 ? `${Number((us / 1000).toPrecision(3))} ms` : `${Number((us / 1e6).toPrecision(3))} s`;
const list = values => values === null || values === undefined ? "" : values.map(spell).join(", ");

function range(p, channels) {
  if (!p.floats && p.channels > 1) return [0, 255];
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < p.data.length; i += p.channels)
    for (const c of channels) {
      const v = p.data[i + c];
      if (c < p.channels && isFinite(v)) { if (v < low) low = v; if (v > high) high = v; }
    }
  return low > high ? [0, 1] : [low, high];
}

/* -- a picture with channels, range, zoom and overlays -- */

const CHANNELS = { RGB: [0, 1, 2], R: [0], G: [1], B: [2], A: [3] };

function paint(canvas, p, channels, low, high, marks) {
  canvas.width = p.width; canvas.height = p.height;
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(p.width, p.height);
  const grey = channels.length === 1 || p.channels === 1;
  const scale = 255 / ((high - low) || 1);
  for (let y = 0; y < p.height; y++)
    for (let x = 0; x < p.width; x++) {
      const from = (y * p.width + x) * p.channels, to = ((p.height - 1 - y) * p.width + x) * 4;
      for (let c = 0; c < 3; c++) {
        const at = grey ? (p.channels === 1 ? 0 : channels[0]) : channels[c];
        const v = at < p.channels ? p.data[from + at] : 0;
        image.data[to + c] = (v - low) * scale;
        if (marks && v !== v) { image.data[to] = 255; image.data[to + 1] = 0; image.data[to + 2] = 255; break; }
        if (marks && (v === Infinity || v === -Infinity)) { image.data[to] = 255; image.data[to + 1] = 160; image.data[to + 2] = 0; break; }
      }
      image.data[to + 3] = 255;
    }
  pen.putImageData(image, 0, 0);
}

const HEAT = [[0, 0, 0, 0], [49, 104, 142, 200], [53, 183, 121, 210], [253, 231, 37, 220], [248, 149, 64, 230], [204, 71, 120, 240], [255, 255, 255, 250]];
const VARIANTS = [[74, 120, 200, 190], [230, 140, 40, 190], [60, 170, 90, 190], [200, 60, 110, 190], [140, 100, 200, 190], [210, 190, 50, 190], [60, 180, 190, 190], [150, 110, 80, 190]];
const OVERLAY = {
  overdraw: v => HEAT[Math.min(v, HEAT.length - 1)],
  quads: v => [[0, 0, 0, 0], [204, 71, 120, 230], [248, 149, 64, 220], [253, 231, 37, 210], [49, 104, 142, 170]][v],
  variant: v => v ? VARIANTS[(v - 1) % VARIANTS.length] : [0, 0, 0, 0],
  changes: v => [[0, 0, 0, 0], [34, 160, 80, 170], [210, 40, 40, 170]][v],
  differs: v => [[0, 0, 0, 0], [230, 20, 230, 230]][v],
};
const LEGEND = {
  overdraw: () => [[1, "1 fragment"], [2, "2"], [3, "3"], [4, "4"], [5, "5"], [6, "6 or more"]],
  quads: () => [[1, "1 of 4 pixels of a quad covered"], [2, "2"], [3, "3"], [4, "4"]],
  variant: draw => (draw.legend || []).map((text, i) => [i + 1, text]),
  changes: () => [[1, "covered and changed"], [2, "covered, and left as it was"]],
  differs: () => [[1, "not as in the other run"]],
};

/* What the colours of an overlay mean. */
function Legend({ draw, overlay }) {
  if (overlay === "NaN and Inf") return html`<p class="legend"><i style="background:#f0f"></i>NaN <i style="background:#ffa000"></i>infinite</p>`;
  const kind = overlay.split(" ")[0];
  if (!LEGEND[kind]) return null;
  return html`<p class="legend">${LEGEND[kind](draw).map(([v, text]) => html`<span><i style=${`background:rgba(${OVERLAY[kind](v).slice(0, 3)})`}></i>${text}</span> `)}</p>`;
}

// A number of an overlay in words, where it has any.
function told(draw, overlay, value) {
  return overlay === "variant" && value ? `${value}: ${(draw.legend || [])[value - 1]}` : value;
}

function paintOverlay(canvas, p, kind) {
  canvas.width = p.width; canvas.height = p.height;
  const pen = canvas.getContext("2d"), image = pen.createImageData(p.width, p.height);
  const color = OVERLAY[kind.split(" ")[0]];
  for (let y = 0; y < p.height; y++)
    for (let x = 0; x < p.width; x++)
      image.data.set(color(p.data[y * p.width + x]) || [0, 0, 0, 0], ((p.height - 1 - y) * p.width + x) * 4);
  pen.putImageData(image, 0, 0);
}

function paintWires(canvas, mesh, width, height, zoom) {
  canvas.width = width * zoom; canvas.height = height * zoom;
  const pen = canvas.getContext("2d");
  pen.strokeStyle = "#e0457b"; pen.lineWidth = 1; pen.beginPath();
  for (const corners of mesh.corners) {
    corners.forEach((v, i) => {
      const [x, y] = mesh.after[v];
      pen[i ? "lineTo" : "moveTo"](x * zoom, (height - y) * zoom);
    });
    pen.closePath();
  }
  pen.stroke();
}

function Histogram({ p, channels, low, high }) {
  const canvas = useRef();
  useEffect(() => {
    const bins = 128, counts = channels.map(() => new Float64Array(bins));
    for (let i = 0; i < p.data.length; i += p.channels)
      channels.forEach((c, k) => {
        const v = c < p.channels ? p.data[i + c] : NaN;
        if (isFinite(v)) counts[k][Math.max(0, Math.min(bins - 1, Math.floor((v - low) / ((high - low) || 1) * bins)))]++;
      });
    const most = Math.max(1, ...counts.map(c => Math.max(...c)));
    const view = canvas.current, pen = view.getContext("2d");
    view.width = bins * 2; view.height = 56; pen.clearRect(0, 0, view.width, 56);
    const colors = channels.length === 1 ? ["#8a8f99"] : ["#d0463b", "#3a9a58", "#4a78c8"];
    pen.globalCompositeOperation = "source-over"; pen.globalAlpha = .6;
    counts.forEach((c, k) => {
      pen.fillStyle = colors[k];
      c.forEach((n, i) => { const h = Math.log1p(n) / Math.log1p(most) * 54; pen.fillRect(i * 2, 56 - h, 2, h); });
    });
  }, [p, channels, low, high]);
  return html`<canvas ref=${canvas} class="histogram" role="img"
    aria-label=${`histogram from ${spell(low)} to ${spell(high)}`}></canvas>`;
}

function Picture({ draw, attachments, edited, mesh, onPick, mark }) {
  const names = Object.keys(attachments);
  const [name, setName] = useState("");
  const shown = names.includes(name) ? name : names[0];
  const [channel, setChannel] = useState("RGB");
  const [zoom, setZoom] = useState(0);
  const [limits, setLimits] = useState(null);
  const [overlay, setOverlay] = useState("");
  const [reading, setReading] = useState("");
  const canvas = useRef(), over = useRef(), box = useRef();
  const [room, setRoom] = useState([300, 300]);
  useEffect(() => {
    const pane = box.current && box.current.closest(".stage");
    if (!pane) return;
    const watch = new ResizeObserver(() => setRoom([pane.clientWidth - 28, Math.max(220, pane.clientHeight - 210)]));
    watch.observe(pane);
    return () => watch.disconnect();
  }, [names.length > 0]);
  const p = usePicture(attachments[shown]);
  const marks = usePicture(draw.overlays[overlay]);
  const channels = p && p.channels === 1 ? CHANNELS.R : CHANNELS[channel];
  const auto = useMemo(() => p ? range(p, channels) : [0, 1], [p, channels]);
  const plain = p && p.floats && p.channels > 1 ? [0, 1] : auto;
  const [low, high] = limits || plain;
  useEffect(() => setLimits(null), [shown]);
  const scale = !p ? 1 : zoom || Math.min(room[0] / p.width, room[1] / p.height);
  useEffect(() => { if (p) { paint(canvas.current, p, channels, low, high, overlay === "NaN and Inf"); canvas.current.dataset.name = attachments[shown]; } }, [p, channels, low, high, overlay]);
  useEffect(() => {
    const view = over.current;
    if (!p || !view) return;
    view.width = view.height = 1;
    if (overlay === "wireframe" && mesh && mesh.after) paintWires(view, mesh, p.width, p.height, scale);
    else if (marks) paintOverlay(view, marks, overlay);
  }, [p, marks, overlay, mesh, scale]);
  const place = e => {
    const r = canvas.current.getBoundingClientRect();
    return [Math.floor((e.clientX - r.left) / scale), p.height - 1 - Math.floor((e.clientY - r.top) / scale)];
  };
  const values = (x, y) => Array.from(p.data.slice((y * p.width + x) * p.channels, (y * p.width + x + 1) * p.channels));
  const hover = e => {
    if (!p) return;
    const [x, y] = place(e);
    if (x < 0 || y < 0 || x >= p.width || y >= p.height) return;
    const extra = marks && marks.width === p.width ? `; ${overlay} ${told(draw, overlay, marks.data[y * marks.width + x])}` : "";
    setReading(`${x}, ${y}: ${list(values(x, y))}${extra}`);
  };
  const moved = e => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
    if (!by || !mark || !onPick || !p) return;
    e.preventDefault();
    onPick(Math.max(0, Math.min(p.width - 1, mark.x + by[0])), Math.max(0, Math.min(p.height - 1, mark.y + by[1])), shown);
  };
  if (!names.length) return html`<p class="faint">Nothing is attached that could be shown.</p>`;
  const overlays = ["", ...(draw.has_mesh ? ["wireframe"] : []), ...Object.keys(draw.overlays), "NaN and Inf"];
  const size = p ? `width:${p.width * scale}px;height:${p.height * scale}px` : "";
  return html`<div class="tools">
      <label>attachment <select value=${shown} onChange=${e => setName(e.target.value)}>${names.map(n => html`<option value=${n}>${n}</option>`)}</select></label>
      <span role="group" aria-label="channels">${Object.keys(CHANNELS).map(c => html`<button aria-pressed=${channel === c} disabled=${!p || p.channels === 1} onClick=${() => setChannel(c)}>${c}</button>`)}</span>
      <label>zoom <select value=${zoom} onChange=${e => setZoom(Number(e.target.value))}>
        <option value="0">fit</option>${[1, 2, 3, 4, 6, 8].map(z => html`<option value=${z}>${z}x</option>`)}</select></label>
      <label>overlay <select value=${overlay} onChange=${e => setOverlay(e.target.value)}>${overlays.map(o => html`<option value=${o}>${o || "none"}</option>`)}</select></label>
    </div>
    <div class="tools">
      <label>from <input type="number" step="any" value=${spell(low)} onChange=${e => setLimits([Number(e.target.value), high])} /></label>
      <label>to <input type="number" step="any" value=${spell(high)} onChange=${e => setLimits([low, Number(e.target.value)])} /></label>
      <button onClick=${() => setLimits(auto)}>stretch</button>
      <button onClick=${() => setLimits(null)}>reset</button>
      ${edited && html`<strong class="warn">edited</strong>`}
    </div>
    <div class="picture" ref=${box} tabindex="0" role="group" aria-label="the picture; click a pixel for its history, or move the mark with the arrow keys" onKeyDown=${moved}>
      <canvas ref=${canvas} data-name="" style=${size} role="img" aria-label=${`${shown} after call ${draw.number}`}
        onMouseMove=${hover} onClick=${e => { if (p && onPick) onPick(...place(e), shown); box.current.focus(); }}></canvas>
      <canvas ref=${over} class="over" style=${size} aria-hidden="true"></canvas>
      ${p && mark && mark.attachment === shown && html`<span class="mark" aria-hidden="true" style=${`left:${mark.x * scale}px;top:${(p.height - 1 - mark.y) * scale}px;width:${scale}px;height:${scale}px`}></span>`}
    </div>
    <${Legend} draw=${draw} overlay=${overlay} />
    <div class="reading faint" aria-live="off">${reading || (p ? `${p.width} x ${p.height}${p.full && p.full[0] !== p.width ? ` (of ${p.full[0]} x ${p.full[1]})` : ""}` : "")}</div>
    ${p && html`<${Histogram} p=${p} channels=${channels} low=${low} high=${high} />`}`;
}

/* A small picture; a lazy one is fetched when it comes into view. */
function Thumb({ name, label, lazy, children }) {
  const canvas = useRef();
  const [near, setNear] = useState(!lazy);
  useEffect(() => {
    if (near) return;
    const watch = new IntersectionObserver(seen => { if (seen.some(s => s.isIntersecting)) { setNear(true); watch.disconnect(); } });
    watch.observe(canvas.current);
    return () => watch.disconnect();
  }, [near]);
  const p = usePicture(near ? name : "");
  useEffect(() => { if (p) { const c = p.channels === 1 ? CHANNELS.R : CHANNELS.RGB; const [l, h] = p.channels === 1 ? range(p, c) : p.floats ? [0, 1] : [0, 255]; paint(canvas.current, p, c, l, h, false); canvas.current.dataset.name = name; } }, [p]);
  const picture = label ? html`<canvas ref=${canvas} data-name="" role="img" aria-label=${label}></canvas>` : html`<canvas ref=${canvas} data-name="" aria-hidden="true"></canvas>`;
  return html`<figure>${name || lazy ? picture : html`<p class="faint">not a picture</p>`}${children && html`<figcaption>${children}</figcaption>`}</figure>`;
}

/* -- a mesh, before and after the vertex shader -- */

function Mesh({ mesh, size, onVertex }) {
  const [which, setWhich] = useState("after");
  const [turn, setTurn] = useState(0.6);
  const [picked, setPicked] = useState(-1);
  const canvas = useRef(), points = useRef([]);
  const columns = mesh.names || [];
  const axes = ["x", "y", "z"].map(a => columns.findIndex(n => n.endsWith("." + a) && n.split(".")[0] === (columns[0] || "").split(".")[0]));
  useEffect(() => {
    const view = canvas.current, pen = view.getContext("2d");
    view.width = 640; view.height = 480;
    let place;
    if (which === "after") {
      const s = Math.min(640 / size[0], 480 / size[1]);
      place = mesh.after.map(([x, y]) => [x * s, 480 - y * s]);
    } else {
      const raw = mesh.before.map(v => axes.map(a => a < 0 ? 0 : v[a]));
      const c = Math.cos(turn), d = Math.sin(turn), flat = raw.every(v => v[2] === 0);
      const seen = raw.map(([x, y, z]) => flat ? [x, y] : [x * c + z * d, y * .94 + (z * c - x * d) * -.34]);
      const xs = seen.map(v => v[0]), ys = seen.map(v => v[1]);
      const x0 = Math.min(...xs), x1 = Math.max(...xs), y0 = Math.min(...ys), y1 = Math.max(...ys);
      const s = Math.min(600 / ((x1 - x0) || 1), 440 / ((y1 - y0) || 1));
      place = seen.map(([x, y]) => [320 + (x - (x0 + x1) / 2) * s, 240 - (y - (y0 + y1) / 2) * s]);
    }
    points.current = place;
    pen.clearRect(0, 0, 640, 480);
    pen.strokeStyle = getComputedStyle(view).color; pen.globalAlpha = .55; pen.beginPath();
    for (const corners of mesh.corners) {
      corners.forEach((v, i) => pen[i ? "lineTo" : "moveTo"](...place[v]));
      pen.closePath();
    }
    pen.stroke(); pen.globalAlpha = 1;
    if (place[picked]) { pen.fillStyle = "#e0457b"; pen.beginPath(); pen.arc(...place[picked], 5, 0, 7); pen.fill(); }
  }, [mesh, which, turn, picked]);
  const pick = e => {
    const r = canvas.current.getBoundingClientRect();
    const x = (e.clientX - r.left) * 640 / r.width, y = (e.clientY - r.top) * 480 / r.height;
    let best = -1, near = 400;
    points.current.forEach(([a, b], i) => { const d = (a - x) ** 2 + (b - y) ** 2; if (d < near) { near = d; best = i; } });
    setPicked(best);
  };
  const step = d => setPicked(Math.max(0, Math.min(mesh.after.length - 1, picked + d)));
  return html`<div class="tools"><span role="group" aria-label="which">
      <button aria-pressed=${which === "before"} disabled=${!mesh.before.length} onClick=${() => setWhich("before")}>before the vertex shader</button>
      <button aria-pressed=${which === "after"} onClick=${() => setWhich("after")}>after</button></span>
      ${which === "before" && html`<label>turn <input type="range" min="0" max="6.28" step="0.05" value=${turn} onInput=${e => setTurn(Number(e.target.value))} /></label>`}
      <button onClick=${() => step(-1)} aria-label="vertex before">‹</button><button onClick=${() => step(1)} aria-label="next vertex">›</button></div>
    <canvas ref=${canvas} class="mesh" role="img" aria-label="wireframe; click a vertex" onClick=${pick}></canvas>
    <p class="faint">${mesh.corners.length} of ${mesh.total} primitives, ${mesh.after.length} vertices</p>
    ${picked >= 0 && html`<table><tbody>
      <tr><th scope="row">vertex</th><td>${picked}</td></tr>
      <tr><th scope="row">window</th><td>${list(mesh.after[picked].slice(0, 3))}, clip w ${spell(mesh.after[picked][3])}</td></tr>
      ${columns.map((n, i) => html`<tr><th scope="row">${n}</th><td>${spell((mesh.before[picked] || [])[i])}</td></tr>`)}</tbody></table>
      ${live && html`<button onClick=${() => onVertex(mesh.corners.flat().indexOf(picked))}>step through its vertex shader</button>`}`}`;
}

/* -- code -- */

const bare = text => text.replace(/ \/\/@\d+$/, "");
const lineOf = text => Number((/ \/\/@(\d+)$/.exec(text) || [0, 0])[1]);

function Code({ lines, label, numbers, lit, now, fresh, results, onHover, onClick }) {
  const box = useRef();
  useEffect(() => {
    const at = box.current && box.current.querySelector(".now");
    if (at) { const b = box.current; const top = at.offsetTop - b.offsetTop; if (top < b.scrollTop + 20 || top > b.scrollTop + b.clientHeight - 40) b.scrollTop = top - b.clientHeight / 3; }
  }, [now, lines]);
  return html`<div class="code" ref=${box} tabindex="0" role="group" aria-label=${label}><ol>${lines.map((text, i) => html`<li
    class=${[lit && lit(i) ? "lit" : "", now === i ? "now" : "", fresh && fresh.has(i) ? "new" : ""].join(" ")}
    onMouseEnter=${onHover && (() => onHover(i))} onClick=${onClick && (() => onClick(i))}>${numbers && html`<span class="no">${i + 1}</span>`}${bare(text) || " "}${results && results[i] !== undefined && html`<span class="result">${"   = " + results[i]}</span>`}</li>`)}</ol></div>`;
}

function afterPass(way, upto) {
  let lines = way.first ? way.first.split("\n") : [], fresh = new Set();
  for (let i = 0; i < upto; i++) {
    const out = [], marks = new Set();
    let at = 0;
    for (const [start, end, text] of way.passes[i].edits) {
      out.push(...lines.slice(at, start));
      text.forEach((t, k) => marks.add(out.length + k));
      out.push(...text);
      at = end;
    }
    lines = out.concat(lines.slice(at)); fresh = marks;
  }
  return [lines, fresh];
}

/* A stage's way: source, NIR after any pass, code; hovering one lights up the others. */
function WayView({ way, source, outer, setOuter, forms }) {
  const [at, setAt] = useState(1e9);
  const [what, setWhat] = useState(forms ? forms[0] : "nir");
  const [own, setOwn] = useState(0);
  const line = setOuter ? outer : own, setLine = setOuter || setOwn;
  const upto = Math.min(at, way.passes.length);
  const [lines, fresh] = useMemo(() => afterPass(way, upto), [way, upto]);
  const variant = way.variants[0];
  const final = variant ? variant.nir.split("\n") : [];
  const shown = what === "nir" ? lines : what === "final" ? final : (variant ? variant.code.split("\n") : []);
  const key = e => {
    if (e.key === "ArrowRight") setAt(Math.min(way.passes.length, upto + 1));
    else if (e.key === "ArrowLeft") setAt(Math.max(0, upto - 1));
    else return;
    e.preventDefault();
  };
  const name = upto ? way.passes[upto - 1] : null;
  return html`${source && html`<${Code} label="GLSL source" lines=${way.source.split("\n")} numbers=${true} lit=${i => i + 1 === line} onHover=${i => setLine(i + 1)} />`}
    ${(!forms || forms.length > 1) && html`<div class="tools"><span role="group" aria-label="form">
      ${Object.entries({ nir: "passes", final: "what the driver compiled", code: "its code" }).filter(([k]) => !forms || forms.includes(k)).map(([k, t]) => html`<button aria-pressed=${what === k} onClick=${() => setWhat(k)}>${t}</button>`)}</span></div>`}
    ${what === "nir" && html`<div class="tools" onKeyDown=${key}>
      <button onClick=${() => setAt(Math.max(0, upto - 1))} aria-label="pass before">‹</button>
      <select aria-label="after which pass" value=${upto} onChange=${e => setAt(Number(e.target.value))}>
        <option value="0">as lowered from GLSL</option>
        ${way.passes.map((p, i) => html`<option value=${i + 1}>${i + 1}. ${p.name} (${p.delta > 0 ? "+" : ""}${p.delta})</option>`)}</select>
      <button onClick=${() => setAt(Math.min(way.passes.length, upto + 1))} aria-label="next pass">›</button>
      <span class="faint">${name ? `${name.count} instructions, ${spellTime(name.microseconds)}` : ""} ← →</span></div>`}
    ${what !== "nir" && variant && html`<p class="faint">${variant.key} (${variant.reason})</p>`}
    <${Code} label=${what === "code" ? "generated code" : "NIR"} lines=${shown} fresh=${what === "nir" ? fresh : null}
      lit=${i => line && lineOf(shown[i]) === line} onHover=${i => setLine(lineOf(shown[i]))} />`;
}
