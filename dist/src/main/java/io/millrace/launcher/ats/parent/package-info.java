/** Imports of origin groups from parent.config and strategies.yaml. */
@NullMarked
package io.millrace.launcher.ats.parent;

import org.jspecify.annotations.NullMarked;
