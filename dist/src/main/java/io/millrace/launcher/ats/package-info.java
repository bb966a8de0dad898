/**
 * The importer of a Traffic Server configuration directory into one {@code millrace.yaml}. A report lists every line
 * with the resulting keys, or with the reason why there are none. The importer only reads files.
 */
@NullMarked
package io.millrace.launcher.ats;

import org.jspecify.annotations.NullMarked;
