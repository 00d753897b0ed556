//! From a model to functions in memory.
//!
//! A function for each edge and one for each control state that asks all its edges at once; the
//! latter saves a call for each edge that is blocked. What cannot be compiled (priorities, `run`,
//! `enabled`) has no function, and the interpreter executes it: compiled code is an accelerator of
//! the interpreter, never a second semantics.

use super::emit::Emitter;
use super::layout::Layout;
use super::point::{self, Compilable, Point, Takes};
use super::{Compiled, CompiledPoint, Function, NotAvailable, PointFunction, Taker};
use crate::ir::{Action, Model, ProctypeId};
use crate::run::Marks;
use cranelift_codegen::ir::{AbiParam, Signature, UserFuncName, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, control::ControlPlane};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module};
use std::sync::Mutex;

/// Memory with code in it, given back when nobody can call it any more.
///
/// **Invariant:** code outlives every pointer to it. Pointers are in `Compiled` and
/// `CompiledPoint`, which live in the same struct as this.
pub struct Memory(Mutex<Option<JITModule>>);

impl Drop for Memory {
    fn drop(&mut self) {
        let module = self.0.get_mut().ok().and_then(Option::take);
        if let Some(module) = module {
            // SAFETY: only `Native` has pointers into this memory, and it drops it together with them.
            unsafe { module.free_memory() };
        }
    }
}

/// A function that is compiled but has no address yet.
struct Defined {
    id: FuncId,
    message: u32,
    frame_size: u32,
}

/// The same for a control state.
struct DefinedPoint {
    point: FuncId,
    /// Outer `None`: it never takes a message; inner `None`: the interpreter does it.
    taker: Option<Option<FuncId>>,
    first: usize,
    message: u32,
    frame_size: u32,
}

/// Everything that was compiled: statements, control states, and the memory with their code.
type All = (Vec<Option<Compiled>>, Vec<Option<CompiledPoint>>, Memory);

struct Builder<'m> {
    model: &'m Model,
    layout: &'m Layout,
    module: JITModule,
    signature: Signature,
    point_signature: Signature,
    context: Context,
    builder_context: FunctionBuilderContext,
}

/// Compiles every edge and every control state that can have native code.
pub fn compile(model: &Model, layout: &Layout, marks: &Marks) -> Result<All, NotAvailable> {
    let module = module()?;
    let mut signature = module.make_signature();
    let parameters = [types::I64; 5];
    signature.params.extend(parameters.map(AbiParam::new));
    signature.returns.push(AbiParam::new(types::I32));
    let mut point_signature = module.make_signature();
    point_signature.params.extend([types::I64; 6].map(AbiParam::new));
    point_signature.returns.push(AbiParam::new(types::I64));
    let context = module.make_context();
    let builder_context = FunctionBuilderContext::new();
    let mut builder = Builder { model, layout, module, signature, point_signature, context, builder_context };
    let functions = builder.functions()?;
    let points = builder.points(&|number| functions[number].is_some(), marks)?;
    builder.module.finalize_definitions().map_err(not_available)?;
    let compiled = functions.into_iter().map(|function| {
        let Defined { id, message, frame_size } = function?;
        let code = builder.module.get_finalized_function(id);
        // SAFETY: the function was defined with the signature that `Function` has.
        let function = unsafe { std::mem::transmute::<*const u8, Function>(code) };
        Some(Compiled { function, message, frame_size })
    });
    let compiled = compiled.collect();
    let points = points.into_iter().map(|point| point.map(|point| builder.point_in_memory(&point))).collect();
    Ok((compiled, points, Memory(Mutex::new(Some(builder.module)))))
}

fn module() -> Result<JITModule, NotAvailable> {
    let mut flags = settings::builder();
    for (name, value) in [("opt_level", "speed"), ("enable_verifier", if cfg!(test) { "true" } else { "false" })] {
        flags.set(name, value).map_err(not_available)?;
    }
    let isa = cranelift_native::builder()
        .map_err(not_available)?
        .finish(settings::Flags::new(flags))
        .map_err(not_available)?;
    Ok(JITModule::new(JITBuilder::with_isa(isa, cranelift_module::default_libcall_names())))
}

fn not_available(error: impl std::fmt::Display) -> NotAvailable {
    NotAvailable(error.to_string())
}

impl Builder<'_> {
    /// One function for each edge, in order.
    fn functions(&mut self) -> Result<Vec<Option<Defined>>, NotAvailable> {
        let model = self.model;
        let mut functions = Vec::new();
        for (proctype, declared) in model.proctypes.iter().enumerate() {
            for edge in declared.states.iter().flat_map(|state| &state.edges) {
                let id = self.function(proctype, &edge.action)?;
                let (message, frame_size) = (message_length(&edge.action), declared.frame_size);
                functions.push(id.map(|id| Defined { id, message, frame_size }));
            }
        }
        Ok(functions)
    }

    /// `None`, if the emitter met something that only the interpreter does.
    fn function(&mut self, proctype: ProctypeId, action: &Action) -> Result<Option<FuncId>, NotAvailable> {
        self.module.clear_context(&mut self.context);
        self.context.func.signature = self.signature.clone();
        self.context.func.name = UserFuncName::default();
        let builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
        let mut emitter = Emitter::new(builder, self.model, self.layout, proctype);
        if emitter.statement(action).is_none() {
            // A function that was given up leaves its builder in the middle of things.
            self.builder_context = FunctionBuilderContext::new();
            return Ok(None);
        }
        emitter.finish(self.module.target_config());
        let signature = self.signature.clone();
        self.define(&signature).map(Some)
    }
}

impl Builder<'_> {
    /// The functions of each control state, in order.
    fn points(&mut self, compilable: Compilable<'_>, marks: &Marks) -> Result<Vec<Option<DefinedPoint>>, NotAvailable> {
        let model = self.model;
        let (mut points, mut first) = (Vec::new(), 0);
        for (proctype, declared) in model.proctypes.iter().enumerate() {
            let states = &declared.states;
            let mut firsts = Vec::new();
            for state in states {
                firsts.push(first);
                first += state.edges.len();
            }
            for (state, start) in states.iter().zip(&firsts) {
                let point = Point { state, states, firsts: &firsts, compilable, marks };
                // A choice of a deterministic process is an error that the interpreter reports.
                let has_code = point::has_code(state) && !declared.deterministic;
                points.push(if has_code { Some(self.point(proctype, &point, *start)?) } else { None });
            }
        }
        Ok(points)
    }

    fn point(&mut self, proctype: ProctypeId, point: &Point<'_>, first: usize) -> Result<DefinedPoint, NotAvailable> {
        let edges = &point.state.edges;
        let message = edges.iter().map(|edge| message_length(&edge.action)).max().unwrap_or(0);
        let frame_size = self.model.proctypes[proctype].frame_size;
        let function = self.point_function(proctype, &mut |emitter| {
            point.emit(emitter, first);
            Some(())
        })?;
        let taker = match point.takes() {
            _ if !self.model.features.rendezvous => None,
            Takes::Never => None,
            Takes::InDStep => Some(None),
            Takes::ByEdge => Some(self.point_function(proctype, &mut |emitter| point.emit_taker(emitter, first))?),
        };
        let point = function.expect("the function of a point is never given up");
        Ok(DefinedPoint { point, taker, first, message, frame_size })
    }

    fn point_function(
        &mut self,
        proctype: ProctypeId,
        emit: &mut dyn FnMut(&mut Emitter<'_, '_>) -> Option<()>,
    ) -> Result<Option<FuncId>, NotAvailable> {
        self.module.clear_context(&mut self.context);
        self.context.func.signature = self.point_signature.clone();
        self.context.func.name = UserFuncName::default();
        let builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
        let mut emitter = Emitter::new(builder, self.model, self.layout, proctype);
        if emit(&mut emitter).is_none() {
            self.builder_context = FunctionBuilderContext::new();
            return Ok(None);
        }
        emitter.finish_blocks(self.module.target_config());
        let signature = self.point_signature.clone();
        self.define(&signature).map(Some)
    }

    fn define(&mut self, signature: &Signature) -> Result<FuncId, NotAvailable> {
        let id = self.module.declare_anonymous_function(signature).map_err(not_available)?;
        self.module
            .define_function_with_control_plane(id, &mut self.context, &mut ControlPlane::default())
            .map_err(|error| NotAvailable(format!("{error:?}")))?;
        Ok(id)
    }

    fn point_in_memory(&self, point: &DefinedPoint) -> CompiledPoint {
        let address = |id| {
            let code = self.module.get_finalized_function(id);
            // SAFETY: the function was defined with the signature that `PointFunction` has.
            unsafe { std::mem::transmute::<*const u8, PointFunction>(code) }
        };
        let taker = match point.taker {
            None => Taker::Never,
            Some(None) => Taker::Interpreter,
            Some(Some(id)) => Taker::Function(address(id)),
        };
        let DefinedPoint { first, message, frame_size, .. } = *point;
        CompiledPoint { point: address(point.point), taker, first, message, frame_size }
    }
}

fn message_length(action: &Action) -> u32 {
    match action {
        Action::Send(send) => send.values.len() as u32,
        _ => 0,
    }
}
