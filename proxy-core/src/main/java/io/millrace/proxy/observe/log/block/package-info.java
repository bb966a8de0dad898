/**
 * The blocks of binary logs: layout, schema, encoder, decoder, and a scanner that skips damaged bytes. Knows nothing of
 * access logs: a row has columns with names and types.
 */
@NullMarked
package io.millrace.proxy.observe.log.block;

import org.jspecify.annotations.NullMarked;
