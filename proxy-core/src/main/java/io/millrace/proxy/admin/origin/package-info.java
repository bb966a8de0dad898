/** Admin resources of origins: health, statistics, and marking hosts down or up by an operator. */
@NullMarked
package io.millrace.proxy.admin.origin;

import org.jspecify.annotations.NullMarked;
