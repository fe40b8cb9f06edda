// A closer look at two pictures: swipe, blink, heat and amplified views, a lens that says both colours.
// Keys while a viewer has the focus: 1-6 choose the view, n/N the next or previous difference, + - zoom.
for (const box of document.querySelectorAll(".viewer")) {
  const images = ["ours", "theirs", "heat"].map((role) => box.querySelector(`img[data-role=${role}]`));
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "look closer";
  const place = document.createElement("div");
  place.className = "look";
  place.append(button);
  box.append(place);
  button.addEventListener("click", async () => {
    await Promise.all(images.map((image) => image.decode()));
    place.replaceChildren();
    lookCloser(place, images, [box.dataset.ours, box.dataset.theirs]);
  });
}

function lookCloser(place, images, names) {
  const width = images[0].naturalWidth, height = images[0].naturalHeight;
  const [ours, theirs, heat] = images.map((image) => {
    const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return { canvas, data: context.getImageData(0, 0, width, height).data };
  });
  const differences = [];
  for (let i = 0; i < width * height; i++) {
    for (let c = 0; c < 3; c++) if (ours.data[4 * i + c] !== theirs.data[4 * i + c]) { differences.push(i); break; }
  }
  const amplified = new OffscreenCanvas(width, height);
  {
    const context = amplified.getContext("2d"), image = context.createImageData(width, height);
    for (let i = 0; i < image.data.length; i++) {
      image.data[i] = i % 4 === 3 ? 255 : Math.min(255, 16 * Math.abs(ours.data[i] - theirs.data[i]));
    }
    context.putImageData(image, 0, 0);
  }
  const views = ["swipe", "blink", names[0], names[1], "heat", "difference × 16"];
  let view = 0, cut = width / 2, zoom = Math.max(1, Math.round(512 / width)), at = -1, phase = 0, mark = null;
  const canvas = document.createElement("canvas"), stage = document.createElement("div");
  const tools = document.createElement("div"), lens = document.createElement("output");
  stage.className = "stage"; tools.className = "tools"; canvas.tabIndex = 0;
  canvas.setAttribute("aria-label", "both pictures; keys 1 to 6 choose the view, n the next difference, + and - zoom");
  const buttons = views.map((name, i) => add(name, () => { view = i; draw(); }));
  add("next difference", () => jump(1)); add("+", () => { zoom += 1; size(); }); add("−", () => { zoom = Math.max(1, zoom - 1); size(); });
  stage.append(canvas); place.append(tools, stage, lens);

  function add(name, act) {
    const one = document.createElement("button");
    one.type = "button"; one.textContent = name; one.addEventListener("click", act); tools.append(one);
    return one;
  }
  function size() { canvas.width = width * zoom; canvas.height = height * zoom; draw(); }
  function draw() {
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    const show = (what, from = 0) =>
      context.drawImage(what, from, 0, width - from, height, from * zoom, 0, (width - from) * zoom, height * zoom);
    if (view === 0) { show(ours.canvas); show(theirs.canvas, Math.round(cut)); }
    else show([null, phase ? theirs.canvas : ours.canvas, ours.canvas, theirs.canvas, heat.canvas, amplified][view]);
    if (mark) { context.strokeStyle = "#f0f"; context.strokeRect(mark[0] * zoom - .5, mark[1] * zoom - .5, zoom + 1, zoom + 1); }
    buttons.forEach((one, i) => one.setAttribute("aria-pressed", i === view));
  }
  function tell(x, y) {
    const i = 4 * (y * width + x), colours = [ours, theirs].map((side) => [...side.data.slice(i, i + 3)]);
    lens.replaceChildren(`x ${x}, y ${height - 1 - y}`);
    colours.forEach((colour, side) => {
      const patch = document.createElement("i");
      patch.style.background = `rgb(${colour})`;
      lens.append(`  ${names[side]} `, patch, colour.join(" "));
    });
    if (!differences.length) lens.append("  no pixel differs in 8 bits");
  }
  function jump(step) {
    if (!differences.length) { lens.textContent = "no pixel differs in 8 bits"; return; }
    at = (at + step + differences.length) % differences.length;
    mark = [differences[at] % width, Math.floor(differences[at] / width)];
    stage.scrollTo({ left: mark[0] * zoom - stage.clientWidth / 2, top: mark[1] * zoom - stage.clientHeight / 2 });
    tell(...mark); draw();
  }
  canvas.addEventListener("pointermove", (event) => {
    const x = Math.min(width - 1, Math.floor(event.offsetX / zoom)), y = Math.min(height - 1, Math.floor(event.offsetY / zoom));
    tell(Math.max(0, x), Math.max(0, y));
    if (view === 0) { cut = event.offsetX / zoom; draw(); }
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key >= "1" && event.key <= "6") { view = event.key - 1; draw(); }
    else if (event.key === "n" || event.key === "N") jump(event.key === "n" ? 1 : -1);
    else if (event.key === "+") { zoom += 1; size(); }
    else if (event.key === "-") { zoom = Math.max(1, zoom - 1); size(); }
    else return;
    event.preventDefault();
  });
  setInterval(() => { phase = 1 - phase; if (view === 1) draw(); }, 500);
  size(); tell(0, 0);
}
