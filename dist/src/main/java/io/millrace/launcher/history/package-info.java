/** The history of the workers' counters, in a file of fixed size in the state directory. */
@NullMarked
package io.millrace.launcher.history;

import org.jspecify.annotations.NullMarked;
