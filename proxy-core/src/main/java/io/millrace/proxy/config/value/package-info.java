/**
 * Types of setting values, with parsers and formatters: addresses, sizes, the kinds of remap rules ({@code RemapVerb}),
 * URLs of rules, regular expressions.
 */
@NullMarked
package io.millrace.proxy.config.value;

import org.jspecify.annotations.NullMarked;
