/** The configuration that a fleet shares: signed revisions, their checks by each node, and tries on some nodes first. */
@NullMarked
package io.millrace.launcher.fleet.config;

import org.jspecify.annotations.NullMarked;
