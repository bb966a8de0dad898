/** Rules of remap.config and remap.yaml, their filters, and filters of ip_allow. */
@NullMarked
package io.millrace.launcher.ats.remap;

import org.jspecify.annotations.NullMarked;
