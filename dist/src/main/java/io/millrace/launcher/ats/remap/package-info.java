/** Imports of Traffic Server's remap.config and remap.yaml (rules and filters), and of ip_allow.yaml. */
@NullMarked
package io.millrace.launcher.ats.remap;

import org.jspecify.annotations.NullMarked;
