/** Types of values that settings have, with their spellings: addresses, sizes, URLs of rules, expressions. */
@NullMarked
package io.millrace.proxy.config.value;

import org.jspecify.annotations.NullMarked;
