/** Problems of a configuration with their places, and the document in which they occur. */
@NullMarked
package io.millrace.proxy.config.problem;

import org.jspecify.annotations.NullMarked;
