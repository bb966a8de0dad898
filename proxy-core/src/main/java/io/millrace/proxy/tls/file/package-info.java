/** Writing of private files in the worker's state directory, such as copies of certificates. */
@NullMarked
package io.millrace.proxy.tls.file;

import org.jspecify.annotations.NullMarked;
