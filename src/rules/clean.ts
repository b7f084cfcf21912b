/**
 * Text from outside must not steer a terminal: an instance's name could otherwise set the clipboard
 * (OSC 52), move the cursor over a price, or turn the reading order of a line round.
 */

// V8 reads an expression when the line that holds it runs. The long ones stand in functions, since
// most texts need none of them.

/**
 * Whole control sequences: OSC, DCS, SOS, PM and APC with all that they carry up to their end (or
 * the end of the text, as a terminal would swallow it), CSI, character-set changes, a single ESC.
 * Every alternative reads each character once, so that hostile text takes linear time.
 */
export const sequences = () =>
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]+[0-~]?|\u001b/g;

const breaks = () => /\r\n|[\t\n\r\u2028\u2029]/g;

/** What a person cannot see, or sees as another text than it is: C0, DEL, C1, bidi, zero-width. */
export const unseen = () =>
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

export const loneSurrogates = () => /\p{Surrogate}/gu;

/** A quick look that lets the usual text pass untouched. */
export const SUSPECT =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]/;

/** One line that is safe to show: no control sequence or invisible character, breaks as spaces. */
export function clean(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return text
    .replace(sequences(), '')
    .replace(breaks(), ' ')
    .replace(unseen(), '')
    .replace(loneSurrogates(), '');
}
