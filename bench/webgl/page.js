// Runs cases of npm's `gl-conformance` one at a time: its cases want a tape and a maker of contexts.
const cases = new Map(require("gl-conformance/node-test/index"));

function context(width, height, options) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const gl = canvas.getContext("webgl", options);
  if (!gl) return gl;
  Object.defineProperty(gl, "canvas", { value: canvas, writable: true, configurable: true });
  gl.destroy = () => gl.getExtension("WEBGL_lose_context")?.loseContext();
  return gl;
}

window.caseNames = [...cases.keys()];
window.runCase = (name, limit) =>
  new Promise((resolve) => {
    const failed = [];
    let passed = 0;
    const end = (how) => resolve({ name, passed, failed, how });
    const timer = setTimeout(() => end("timeout"), limit);
    const tape = {
      pass: () => passed++,
      fail: (message) => failed.push(String(message)),
      end: () => (clearTimeout(timer), end("end")),
    };
    try {
      cases.get(name)({ tape, createContext: context });
    } catch (error) {
      failed.push(`threw ${error}`);
      clearTimeout(timer);
      end("threw");
    }
  });
