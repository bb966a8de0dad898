/** The URLs and the settings of remap rules that an import of nginx writes. */
@NullMarked
package io.millrace.launcher.nginx.remap;

import org.jspecify.annotations.NullMarked;
