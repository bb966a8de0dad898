/**
 * Whole-system tests: the packed product is unpacked, started as a user starts it, and judged by what crosses its
 * sockets. Nothing here sees a class of the product, only its files, its commands and its answers.
 */
@NullMarked
package io.millrace.system;

import org.jspecify.annotations.NullMarked;
