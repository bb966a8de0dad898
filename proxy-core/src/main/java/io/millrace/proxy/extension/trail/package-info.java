/** The hooks that a process runs, in a file that outlives the process. */
@NullMarked
package io.millrace.proxy.extension.trail;

import org.jspecify.annotations.NullMarked;
