/** Admin resources of the process: health, status, metrics, memory, threads, drain and restart. */
@NullMarked
package io.millrace.proxy.admin.status;

import org.jspecify.annotations.NullMarked;
