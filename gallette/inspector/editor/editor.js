/* The editor of `gallette explore`: what is bundled into assets/codemirror.js.

   npm install codemirror@6 @codemirror/legacy-modes@6 esbuild
   npx esbuild editor.js --bundle --minify --format=iife --global-name=glslEditor \
       --legal-comments=none --banner:js="$(cat licence.txt)" --outfile=../assets/codemirror.js */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { shader } from "@codemirror/legacy-modes/mode/clike";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: tags.keyword, class: "tok-keyword" }, { tag: tags.typeName, class: "tok-type" },
  { tag: [tags.standard(tags.name), tags.atom], class: "tok-builtin" }, { tag: tags.number, class: "tok-number" },
  { tag: tags.comment, class: "tok-comment" }, { tag: [tags.meta, tags.processingInstruction], class: "tok-meta" },
]);

/* Lines that another pane points at. */
const mark = StateEffect.define();
const marked = StateField.define({
  create: () => Decoration.none,
  update(lines, transaction) {
    lines = lines.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(mark)) continue;
      const line = effect.value, document = transaction.state.doc;
      lines = line > 0 && line <= document.lines ? Decoration.set([Decoration.line({ class: "lit" }).range(document.line(line).from)]) : Decoration.none;
    }
    return lines;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/* `changed(text)`, `caret(line)` and `hovered(line or 0)` are told what the reader does. */
export function make(parent, text, label, { changed, caret, hovered }) {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), history(), drawSelection(), bracketMatching(), highlightActiveLine(), lintGutter(), marked,
        StreamLanguage.define(shader), syntaxHighlighting(colours),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed(update.state.doc.toString());
          if (update.selectionSet || update.docChanged) caret(update.state.doc.lineAt(update.state.selection.main.head).number);
        }),
        EditorView.domEventHandlers({
          mousemove(event, view) {
            const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
            hovered(at === null ? 0 : view.state.doc.lineAt(at).number);
          },
          mouseleave: () => hovered(0),
        }),
      ],
    }),
  });
  view.scrollDOM.tabIndex = 0; // what scrolls can be reached by keys
  return {
    /* [line, column, message] of each error. */
    setErrors(errors) {
      const document = view.state.doc;
      const found = errors.filter(([line]) => line >= 1 && line <= document.lines).map(([line, column, message]) => {
        const at = document.line(line), from = Math.min(at.from + Math.max(column - 1, 0), at.to);
        return { from, to: at.to, severity: "error", message };
      });
      view.dispatch(setDiagnostics(view.state, found));
    },
    mark: (line) => view.dispatch({ effects: mark.of(line) }),
  };
}
