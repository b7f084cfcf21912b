// The least that a Node program can do to read a list: page after page, each parsed, none kept.
const http = require('node:http');
const [, , url, pages, limit] = process.argv;
const agent = new http.Agent({ keepAlive: true });
let page = 1;
function next() {
  http.get(`${url}/billing/transactions?page=${page}&limit=${limit}`, { agent }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (more) => {
      text += more;
    });
    response.on('end', () => {
      JSON.parse(text);
      page += 1;
      if (page <= Number(pages)) next();
      else agent.destroy();
    });
  });
}
next();
