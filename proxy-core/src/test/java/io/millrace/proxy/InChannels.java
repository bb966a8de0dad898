package io.millrace.proxy;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The tests of this class, its inherited ones too, have a proxy that serves every client in a channel, without the fast lane. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@interface InChannels {}
