#!/usr/bin/env node
require('../dist/gpucloud.cjs');
