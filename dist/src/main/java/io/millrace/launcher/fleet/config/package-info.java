/** The configuration that a fleet shares: signed revisions, their checks by each node, and canary nodes. */
@NullMarked
package io.millrace.launcher.fleet.config;

import org.jspecify.annotations.NullMarked;
