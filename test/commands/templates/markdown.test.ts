import { describe, expect, it } from 'vitest';
import { markdownText } from '../../../src/commands/templates/markdown.ts';

const laidOut = (markdown: string, columns = 40) => markdownText(markdown, columns).split('\n');

describe('markdownText', () => {
  it('underlines headings by their depth', () => {
    expect(laidOut('# The *first*\n## Second\n### Third')).toEqual([
      'The first',
      '=========',
      '',
      'Second',
      '------',
      '',
      'Third',
      '.....',
    ]);
  });

  it('breaks lines between words, and keeps the breaks that are meant', () => {
    expect(laidOut('one two three four\nfive six seven eight nine  \nten<br>eleven', 20)).toEqual([
      'one two three four',
      'five six seven eight',
      'nine',
      'ten',
      'eleven',
    ]);
  });

  it('never breaks a link, however long', () => {
    const link = `https://example.com/${'x'.repeat(60)}`;
    expect(laidOut(`see <${link}> now`, 20)).toEqual(['see', link, 'now']);
  });

  it('shows where links and images point', () => {
    expect(laidOut('a [word](https://a.b), <c@d.e>, ![logo](l.png)', 80)).toEqual([
      'a word <https://a.b>, c@d.e, [image: logo] <l.png>',
    ]);
  });

  it('sets lists off, nested and numbered and with boxes', () => {
    expect(
      laidOut('3. three\n4. four\n   - nested text that goes on\n- [x] done\n- [ ] open', 20),
    ).toEqual([
      '3. three',
      '4. four',
      '   • nested text that',
      '     goes on',
      '',
      '• [x] done',
      '• [ ] open',
    ]);
  });

  it('keeps code as it is', () => {
    expect(laidOut('```sh\na   b\n\n\tc **d**\n```\n\n`x  y` and ~~gone~~', 20)).toEqual([
      '    a   b',
      '',
      '        c **d**',
      '',
      '`x y` and gone',
    ]);
  });

  it('lines tables up', () => {
    expect(laidOut('| a | b |\n|--|--|\n| long one | 2 |\n| 漢字 | **3** |')).toEqual([
      'a         b',
      '--------  -',
      'long one  2',
      '漢字      3',
    ]);
  });

  it('marks quotes, and parts with a line', () => {
    expect(laidOut('> one\n>\n> > two\n\n---\nend')).toEqual([
      '│ one',
      '│',
      '│ │ two',
      '',
      '─'.repeat(40),
      '',
      'end',
    ]);
  });

  it('leaves the tags of HTML out and its text in', () => {
    expect(
      laidOut(
        '<!-- secret plan -->\n\n<details><summary>More</summary>inside</details>\n\na <b>b</b> &lt;c&gt; \\*d\\*',
        80,
      ),
    ).toEqual(['More inside', '', 'a b <c> *d*']);
  });

  it.each(['', ' \n\n ', '[ref]: https://a.b'])('makes nothing of %j', (markdown) => {
    expect(markdownText(markdown, 80)).toBe('');
  });

  it.each([
    '\u001b]52;c;aGk=\u0007text',
    'text &#27;[2J &#x1b;]0;title &#155;31m',
    '# h\u009b31m\n\n`\u001b[31mcode`\n\n```\n\u001b[2J\n```',
    '[a](https://x/\u202e) ![\u200b](y) <b\u001b>',
    '| \u001b[1m |\n|--|\n| \u2066 |',
  ])('lets no control through: %j', (markdown) => {
    expect(markdownText(markdown, 80)).not.toMatch(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e\u2066]/,
    );
  });

  it.each([
    ['quotes', `${'> '.repeat(3000)}x`],
    ['lists', `${'- '.repeat(3000)}x`],
    ['open brackets', '['.repeat(4000)],
    ['open emphasis', '_a*'.repeat(2000)],
    ['comments', '<!--'.repeat(2000)],
  ])('survives a great many %s', (_what, markdown) => {
    expect(markdownText(markdown, 80).length).toBeGreaterThan(0);
  });

  it.each([
    // Each has one of the two, and a heading, of which a parser would leave no #.
    ['too many marks', `# Marks\n\n${'_a*'.repeat(2_001)}`],
    ['too long', `# ${'long '.repeat(20_000)}`],
  ])('shows what is %s as it was written', (_what, markdown) => {
    expect(markdownText(markdown, 80)).toBe(markdown.trim());
  });
});
