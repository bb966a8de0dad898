/** Formats the results of {@code millctl traffic} and of the cache commands warm, export, import and curve. */
@NullMarked
package io.millrace.cli.render.cache;

import org.jspecify.annotations.NullMarked;
