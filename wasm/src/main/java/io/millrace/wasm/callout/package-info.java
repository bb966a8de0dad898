/**
 * HTTP calls of modules to upstreams that the configuration names: settings, the client, and the calls that are open.
 */
@NullMarked
package io.millrace.wasm.callout;

import org.jspecify.annotations.NullMarked;
