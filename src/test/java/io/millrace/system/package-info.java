/**
 * Whole-system tests: the packed product is unpacked, started like a user does, and tested through its sockets. They
 * use no class of the product, only its files, its commands and its responses.
 */
@NullMarked
package io.millrace.system;

import org.jspecify.annotations.NullMarked;
