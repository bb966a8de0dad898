/** The loading of extensions from jars, each in a class loader of its own. */
@NullMarked
package io.millrace.proxy.extension.load;

import org.jspecify.annotations.NullMarked;
