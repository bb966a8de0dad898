/** Loads extensions from jars, each with its own class loader. */
@NullMarked
package io.millrace.proxy.extension.load;

import org.jspecify.annotations.NullMarked;
