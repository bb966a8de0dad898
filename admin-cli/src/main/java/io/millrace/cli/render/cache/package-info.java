/** Formats the results of commands that fill a cache or copy it. */
@NullMarked
package io.millrace.cli.render.cache;

import org.jspecify.annotations.NullMarked;
