/** Imports of remap.config and remap.yaml: rules and filters, and filters of ip_allow. */
@NullMarked
package io.millrace.launcher.ats.remap;

import org.jspecify.annotations.NullMarked;
