/** Problems of a configuration with their places, and the document that they name. */
@NullMarked
package io.millrace.proxy.config.problem;

import org.jspecify.annotations.NullMarked;
