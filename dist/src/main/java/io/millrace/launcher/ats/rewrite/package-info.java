/** Import of files of Traffic Server's plugin {@code header_rewrite} to elements of {@code rules}. */
@NullMarked
package io.millrace.launcher.ats.rewrite;

import org.jspecify.annotations.NullMarked;
