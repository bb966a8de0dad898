/** Answers to the admin API that copy stored responses out of a cache and into it. */
@NullMarked
package io.millrace.proxy.admin.data.copy;

import org.jspecify.annotations.NullMarked;
