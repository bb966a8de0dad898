/** The live log as resources: requests as they finish, kept requests, and the fields of both. */
@NullMarked
package io.millrace.proxy.admin.log;

import org.jspecify.annotations.NullMarked;
