/** Formats the state of extensions. */
@NullMarked
package io.millrace.cli.render.extension;

import org.jspecify.annotations.NullMarked;
