/** Records the hooks that a process is running, in a file that outlives the process. */
@NullMarked
package io.millrace.proxy.extension.trail;

import org.jspecify.annotations.NullMarked;
