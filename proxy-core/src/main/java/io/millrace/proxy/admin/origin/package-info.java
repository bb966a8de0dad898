/** Admin resources of origins: health, marks, statistics. */
@NullMarked
package io.millrace.proxy.admin.origin;

import org.jspecify.annotations.NullMarked;
