/** The files of a log on disk. */
@NullMarked
package io.millrace.proxy.observe.log.file;

import org.jspecify.annotations.NullMarked;
