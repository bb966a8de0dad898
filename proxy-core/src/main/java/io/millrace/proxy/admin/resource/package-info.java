/** What every admin resource is made of: requests, replies, JSON, errors. */
@NullMarked
package io.millrace.proxy.admin.resource;

import org.jspecify.annotations.NullMarked;
