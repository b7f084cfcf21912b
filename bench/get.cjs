// The least that a Node program can do to print a response.
const url = process.argv[2];
require(url.startsWith('https:') ? 'node:https' : 'node:http').get(url, (response) => {
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (more) => {
    text += more;
  });
  response.on('end', () => {
    process.stdout.write(`${JSON.stringify(JSON.parse(text).data, null, 2)}\n`);
  });
});
