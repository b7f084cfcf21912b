/**
 * Prevents untrusted text from controlling a terminal. An instance's name could otherwise set the
 * clipboard (OSC 52), move the cursor over a price, or reverse a line.
 */

// V8 compiles an expression when its line runs. The long expressions are in functions, since most
// texts don't need them.

/**
 * Matches whole control sequences: OSC, DCS, SOS, PM and APC with their content up to the end (or
 * the end of the text, as in a terminal), CSI, character-set changes, a single ESC. Every
 * alternative reads each character once, so hostile text takes linear time.
 */
export const sequences = () =>
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]+[0-~]?|\u001b/g;

const breaks = () => /\r\n|[\t\n\r\u2028\u2029]/g;

/**
 * Matches characters that are invisible or make a text look like another: C0, DEL, C1, bidi,
 * zero-width, and U+FDD0, which marks suggested commands.
 */
export const unseen = () =>
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufdd0\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

export const loneSurrogates = () => /\p{Surrogate}/gu;

/** Checks quickly, since most texts need no cleaning. */
export const SUSPECT =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufdd0\ufeff\ufff9-\ufffb\ud800-\udfff]/;

/**
 * Returns one line that is safe to show, without control sequences and invisible characters. Turns
 * line breaks into spaces.
 */
export function clean(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return text
    .replace(sequences(), '')
    .replace(breaks(), ' ')
    .replace(unseen(), '')
    .replace(loneSurrogates(), '');
}
