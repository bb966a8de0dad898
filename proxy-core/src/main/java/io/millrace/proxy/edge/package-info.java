/** CORS, canary splits, mirrored requests and the assembly of pages (ESI), for each remap rule. */
@NullMarked
package io.millrace.proxy.edge;

import org.jspecify.annotations.NullMarked;
