/** Formats the results of {@code millctl traffic}, and of the commands {@code cache warm, export, import, curve}. */
@NullMarked
package io.millrace.cli.render.cache;

import org.jspecify.annotations.NullMarked;
