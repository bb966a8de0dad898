/** The live log: finished requests for viewers in the admin API, and the last slow, failed and refused requests. */
@NullMarked
package io.millrace.proxy.observe.log.live;

import org.jspecify.annotations.NullMarked;
