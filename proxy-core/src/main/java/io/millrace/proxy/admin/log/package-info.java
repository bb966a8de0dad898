/**
 * Resources of the live log: requests as they finish, the kept requests (slow, failed or refused), and the fields of
 * both.
 */
@NullMarked
package io.millrace.proxy.admin.log;

import org.jspecify.annotations.NullMarked;
