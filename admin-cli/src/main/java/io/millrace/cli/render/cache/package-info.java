/** Formats the results of the commands that warm, export or import a cache. */
@NullMarked
package io.millrace.cli.render.cache;

import org.jspecify.annotations.NullMarked;
