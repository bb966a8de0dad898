/** Types of setting values, with parsers and formatters: addresses, sizes, URLs of rules, regular expressions. */
@NullMarked
package io.millrace.proxy.config.value;

import org.jspecify.annotations.NullMarked;
