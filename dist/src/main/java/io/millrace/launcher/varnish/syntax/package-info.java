/** The declarations and statements of VCL files with their places. */
@NullMarked
package io.millrace.launcher.varnish.syntax;

import org.jspecify.annotations.NullMarked;
