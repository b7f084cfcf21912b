/** What is a text in every version of YAML without quotes: letters first, and no word of its own. */
const BARE_TEXT =
  /^[A-Za-z\u0410-\u044f](?:[A-Za-z0-9_ \u0410-\u044f-]{4,}[A-Za-z0-9_\u0410-\u044f])$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** What would be a number or a time without them. */
const QUOTED_TEXT = /^(?:[0-9]{1,15}\.[0-9]{1,15}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)$/;

/** So many fields and texts of fields are remembered; they repeat from row to row. */
const REMEMBERED = 1000;
/** Longer texts repeat seldom. */
const LONGEST = 200;

/**
 * Writes the items of a list, one by one, as `yaml` writes a list of that one. A document for each
 * of 100,000 rows takes seconds; so the fields that nobody can doubt are written here, and `yaml`
 * writes whatever else there is, field by field.
 */
export function yamlItems(yaml: (value: unknown) => string): (value: unknown) => string {
  const names = new Map<string, string | undefined>();
  const texts = new Map<string, string>();

  /** `name:` and a space; undefined for a name that takes another form. */
  function nameOf(name: string): string | undefined {
    if (names.has(name)) return names.get(name);
    const [, before] = /^- (.*: )0\n$/.exec(yaml([{ [name]: 0 }])) ?? [];
    if (names.size < REMEMBERED) names.set(name, before);
    return before;
  }

  /** A field as it is written in an item, with its line end. */
  function fieldOf(name: string, value: unknown): string | undefined {
    const start = nameOf(name);
    if (start === undefined) return undefined;
    const bare = bareForm(value);
    if (bare !== undefined) return `${start}${bare}\n`;
    // What follows the first line is indented as it is in any item.
    const write = () => yaml([{ [name]: value }]).slice('- '.length);
    if (typeof value !== 'string' || value.length > LONGEST) return write();
    const key = `${start}${value}`;
    const known = texts.get(key);
    if (known !== undefined) return known;
    const text = write();
    if (texts.size >= REMEMBERED) texts.clear();
    texts.set(key, text);
    return text;
  }

  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return yaml([value]);
    let item = '';
    for (const name of Object.keys(value)) {
      const field = fieldOf(name, Reflect.get(value, name));
      if (field === undefined) return yaml([value]);
      item += `${item === '' ? '- ' : '  '}${field}`;
    }
    return item === '' ? yaml([value]) : item;
  };
}

function bareForm(value: unknown): string | undefined {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return undefined;
  if (BARE_TEXT.test(value) || UUID.test(value)) return value;
  return QUOTED_TEXT.test(value) ? `"${value}"` : undefined;
}
